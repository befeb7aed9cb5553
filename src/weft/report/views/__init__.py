"""One file per kind of result, named after its class."""
