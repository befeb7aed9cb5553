"""Quantities that claims are about, by topic."""
