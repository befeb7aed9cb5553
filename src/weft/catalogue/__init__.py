"""Hardware, prices and running costs as data: one TOML file a device, every number sourced."""

from functools import cache
from hashlib import sha256 as digest
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.catalogue.load import all_of, find, names

__all__ = ["all_of", "find", "names", "sha256"]


@cache
def sha256() -> str:
    """Name this catalogue by the contents of all its files."""
    total, root = digest(), Path(__file__).parent
    for path in sorted(root.rglob("*.toml")):
        total.update(path.relative_to(root).as_posix().encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def __getattr__(name: str) -> Any:  # noqa: ANN401 - what reads devices
    """Import what reads devices when it is first used: every result needs the name alone."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("weft.catalogue.load"), name)
