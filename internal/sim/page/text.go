package page

// Number is a number with three digits, as the page shows it; a dash for NaN.
func Number(v float64) string { return number(v) }

// Percent is a share as the page shows it; a dash for NaN.
func Percent(share float64) string { return percent(share) }

// Seconds is a time as the page shows it; a dash for NaN.
func Seconds(v float64) string { return seconds(v) }
