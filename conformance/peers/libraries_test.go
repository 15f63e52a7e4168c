package peers

// libraries are retry libraries that do not know AWS, with their defaults.
func libraries() []peer { return nil }
