// Package adopters has the retry settings of eight open-source programs, written with awsretry.
// Each file says which lines of the program it stands for. None is a part of that program.
package adopters
