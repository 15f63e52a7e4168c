package proptest_test

import (
	"math/big"
	"time"
)

// ratOf returns the nanoseconds of a duration.
func ratOf(d time.Duration) *big.Rat { return new(big.Rat).SetInt64(int64(d)) }

func product(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

func sum(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }

func difference(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

func smaller(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func floor(a *big.Rat) *big.Int { return new(big.Int).Div(a.Num(), a.Denom()) }
