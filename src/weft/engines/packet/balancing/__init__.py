"""Load balancing among equal-cost links, one file each; a file exports its Balancing."""
