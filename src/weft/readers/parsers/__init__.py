"""Parsers of formats that no table and no library reads; one file each."""
