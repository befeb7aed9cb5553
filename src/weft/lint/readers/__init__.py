"""One file a format: which files it claims, and the setting facts that it finds in them."""
