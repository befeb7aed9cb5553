"""Congestion controls, one file each; a file exports the Control of its own name."""
