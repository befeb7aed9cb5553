"""How the NICs of a host get into a pod; one file is one mode."""
