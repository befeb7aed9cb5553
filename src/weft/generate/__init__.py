"""From one cluster to its configuration: a plan of all numbers, and targets that print it."""
