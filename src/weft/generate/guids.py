"""GUIDs of switches and NICs by name, from a map of names as infiniband-diags reads it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from weft.errors import SpecError, Unreadable
from weft.generate import names

_LINE: Final = re.compile(r'\s*(0x[0-9a-fA-F]{1,16})\s+"([^"]*)"\s*(?:#.*)?')

_AS: Final = 'write a GUID and a name, as 0x7cfe900303000000 "spine-0000"'


def read_name_map(file: Path) -> Mapping[str, str]:
    """Read a file of lines as ``0x7cfe900303000000 "spine-0000"``; # begins a comment."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as failure:
        raise Unreadable(f"{file}: is not UTF-8 text; {_AS}") from failure
    except OSError as failure:
        raise Unreadable(f"{file}: cannot be read: {failure.strerror}") from failure
    found = parse_name_map(text, str(file))
    if not found:
        raise SpecError(f"{file}: names no switch; {_AS}")
    return found


def parse_name_map(text: str, where: str) -> Mapping[str, str]:
    r"""Return GUIDs by name.

    >>> parse_name_map('0x7cfe900303000000 "spine-0000"\n# spare\n', "map")
    {'spine-0000': '0x7cfe900303000000'}
    >>> parse_name_map('0x7cfe900301000001 "host-0000 mlx5_0"', "map")
    {'host-0000 mlx5_0': '0x7cfe900301000001'}
    """
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise SpecError(f"{where}:{number}: {line[:60]!r}: {_AS}")
        guid, name = match.groups()
        host, _, device = name.partition(" ")
        for word in (host, device) if device else (name,):
            names.checked("label", word, f"{where}:{number}: name")
        if name in found or guid.lower() in found.values():
            raise SpecError(f"{where}:{number}: {name} or its GUID is named twice")
        found[name] = guid.lower()
    return found
