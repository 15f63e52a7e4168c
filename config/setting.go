package config

// Candidate is a value that somebody gave for a setting.
type Candidate struct {
	// Raw is the text as it was given. Of a value that goes over several lines
	// of a file it is the first line, a newline and "...": the other lines may
	// be anything, so they are not kept.
	Raw string `json:"raw"`
	// Valid says whether the text is an acceptable value.
	Valid bool `json:"valid"`
	// Origin is where it stood.
	Origin Origin `json:"origin"`
}

// Setting is a value together with where it came from and what it beat.
type Setting[T any] struct {
	Value T `json:"value"`
	// Raw is the text that Value was read from; see [Candidate].
	Raw string `json:"raw"`
	// Origin is where the value came from.
	Origin Origin `json:"origin"`
	// Overridden lists what was also given and lost, the strongest first. The
	// built-in default, which nobody gave, is not among them. Never nil.
	Overridden []Candidate `json:"overridden"`
}
