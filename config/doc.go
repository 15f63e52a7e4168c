// Package config reads the retry settings that AWS tools share: the variables
// of the environment and the two files config and credentials in the directory
// .aws. It knows where every value stood, what it lost to, and what a careful
// reader would ask about.
//
// [Open] locates and reads the two files, [Files.Profile] gives the retry
// settings of one profile, [Files.Profiles] everything that AWS tools see, and
// [Files.Lint] what is odd. Which of several values wins over code and
// environment is decided one package up.
//
// # Dialect
//
// The files are AWS's own dialect, not INI. One strict pass over the bytes
// checks every line, sections nobody asked for included, since a file with one
// bad line is invalid as a whole; it decides which sections are profiles, and
// remembers line numbers. What belongs to the wanted profiles is written out in
// a canonical form that gopkg.in/ini.v1 cannot misread, and ini.v1 loads both
// files in one go: the later of two equal keys and the credentials file over
// the config file are its work.
//
// # Secrets
//
// No error, diagnostic or exported value of this package contains the value of
// a key that is not a retry setting, and the values of secrets never leave it
// at all. Types that must hold file contents hold them behind a function, so
// that printing them, with whatever verb, shows an address.
//
// Everything here may be used by several goroutines at once; nothing is changed
// after it has been returned. The environment and the system are read in this
// package only, and only through [Sources].
package config
