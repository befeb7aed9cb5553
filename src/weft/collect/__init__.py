"""Gathering what the doctor reads: an auditable script, and the ways to run it."""
