"""The fabrics, one file each."""
