"""A fabric that is not there: what its tools would print, healthy or with a fault."""
