"""Formats of traces of jobs; one file each."""
