"""What settings are judged by, one file each."""
