"""One file per tool whose output is read."""
