"""`weft version` (reference): which weft this is."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


def version() -> int:
    """Print the version."""
    try:
        print(f"weft {installed('weft')}")
    except PackageNotFoundError:
        print("weft 0+unknown")
    return 0
