"""How a command reaches the hosts of a benchmark, one file each."""
