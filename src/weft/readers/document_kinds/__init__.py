"""Kinds of JSON and XML documents; one file each."""
