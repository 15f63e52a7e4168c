package awsretry

import "github.com/awsretry/awsretry/config"

// What settings are made of; see the package config.
type (
	// Settings is the answer to how a client shall retry.
	Settings = config.Settings
	// Mode is the retry mode.
	Mode = config.Mode
	// Setting is a value, where it came from, and what it beat.
	Setting[T any] = config.Setting[T]
	// Origin is the place that a value came from.
	Origin = config.Origin
	// Candidate is a value that was given for a setting.
	Candidate = config.Candidate
	// Diagnostic is a finding about settings or files.
	Diagnostic = config.Diagnostic
	// FileStatus is what became of a shared file.
	FileStatus = config.FileStatus
)

// The modes and the generations of behavior.
const (
	ModeStandard = config.ModeStandard
	ModeAdaptive = config.ModeAdaptive
)
