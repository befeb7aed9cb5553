"""Searching settings of switches and NICs with the packet engine."""
