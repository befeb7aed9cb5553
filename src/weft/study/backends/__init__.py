"""Where the points of a study run; one file each."""
