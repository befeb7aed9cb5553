"""Settings that a search may turn, one file each."""
