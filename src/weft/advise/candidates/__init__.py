"""One file for each network that a cluster could be given instead of its own."""
