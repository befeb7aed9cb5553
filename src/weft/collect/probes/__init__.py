"""What is read of a host, one file for each matter."""
