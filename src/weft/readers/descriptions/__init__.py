"""Formats of descriptions; one file each."""
