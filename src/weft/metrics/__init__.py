"""Metrics of the exporters that people run, and the attribute that each of them is."""
