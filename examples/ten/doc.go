// Package ten has common programs as short as they are with awsretry, as tests. The page recipes shows
// them.
package ten
