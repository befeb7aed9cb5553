"""What to look at next where several faults fit a sweep, one file each."""
