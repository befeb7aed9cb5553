"""Kinds of traffic, one file each; a file exports its Pattern, and a scenario names it."""
