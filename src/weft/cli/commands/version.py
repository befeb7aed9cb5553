"""`weft version`: which weft this is."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


def version() -> int:
    """Print the version."""
    try:
        print(f"weft {installed('weft')}")  # noqa: T201 - the one result of this command
    except PackageNotFoundError:
        print("weft 0+unknown")  # noqa: T201 - as above
    return 0
