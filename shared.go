package awsretry

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/awsretry/awsretry/retry"
)

// Factory builds strategies that are shared on purpose: all callers with the same
// key get the same strategy, with one retry quota and one send rate for each scope,
// and a caller with another key gets another. A program chooses the keys by
// what is to be shared: a service and region, a tenant, the whole process. Use
// [NewFactory]; it is safe for concurrent use. Strategies are kept as long as the
// factory is.
type Factory struct {
	settings *Settings
	opts     []Option

	mu         sync.Mutex
	strategies map[string]retry.Strategy // guarded by mu
}

// NewFactory returns a factory for the given settings. Settings and options are
// those of [New], which says at once what is wrong with them.
func NewFactory(settings *Settings, opts ...Option) (*Factory, error) {
	f := &Factory{settings: settings, opts: slices.Clone(opts), strategies: make(map[string]retry.Strategy)}
	if _, err := f.build(""); err != nil {
		return nil, err
	}
	return f, nil
}

// Strategy returns the strategy of the key, which it builds on the
// first call with that key. The key, which must not be empty, is in the strategy's snapshots.
func (f *Factory) Strategy(key string) (retry.Strategy, error) {
	if key == "" {
		return nil, errors.New("awsretry: the key of a shared strategy must not be empty")
	}
	if s := f.find(key); s != nil {
		return s, nil
	}
	// Functions of the user take part in this, so that no lock is held.
	built, err := f.build(key)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.strategies[key]; s != nil {
		return s, nil
	}
	f.strategies[key] = built
	return built, nil
}

// Snapshots returns the state of all strategies, sorted by key.
func (f *Factory) Snapshots() []retry.Snapshot {
	f.mu.Lock()
	strategies := maps.Clone(f.strategies)
	f.mu.Unlock()
	snapshots := make([]retry.Snapshot, 0, len(strategies))
	for _, key := range slices.Sorted(maps.Keys(strategies)) {
		snapshots = append(snapshots, strategies[key].Snapshot())
	}
	return snapshots
}

func (f *Factory) find(key string) retry.Strategy {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.strategies[key]
}

// build adds the name to what the options make of the configuration, so it comes
// last.
func (f *Factory) build(key string) (retry.Strategy, error) {
	named := building(func(b *buildOptions) { b.config.Standard.SharedAs = key })
	return New(f.settings, append(slices.Clone(f.opts), named)...)
}
