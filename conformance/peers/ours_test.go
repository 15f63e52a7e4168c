package peers

// ours are the strategies of this module, in every way in which programs call them.
func ours() []peer { return nil }
