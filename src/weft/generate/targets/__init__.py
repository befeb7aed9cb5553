"""The kinds of configuration that weft writes, one folder each."""
