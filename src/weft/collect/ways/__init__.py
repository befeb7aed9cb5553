"""How the script reaches a host, one file for each way."""
