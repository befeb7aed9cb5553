"""The benchmarks that weft starts, one file each."""
