"""Hardware, prices and running costs as data: one TOML file a device, every number sourced."""

from weft.catalogue.load import all_of, find, names, sha256

__all__ = ["all_of", "find", "names", "sha256"]
