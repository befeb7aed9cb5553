"""One file a kind of measurement."""
