"""Readers: one a format, all of which fill the same inventory."""
