"""One file a benchmark whose output weft can read."""
