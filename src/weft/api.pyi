from typing import Final

from weft import *  # noqa: F403 - every name of the package

VERBS: Final[dict[str, str]]

def result_of(verb: str) -> type: ...
