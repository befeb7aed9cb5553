"""Tables of rows, written as YAML and kept as JSON once read: parsing YAML is slow."""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]


@cache
def rows(package: str, name: str) -> Sequence[Row]:
    """Return the rows of one table of a package, in the order of the file."""
    text = resources.files(package).joinpath(name).read_text(encoding="utf-8")
    parsed: Sequence[Row] = _kept(text, name)
    return parsed


@cache
def tables(package: str, folder: str) -> Mapping[str, Any]:
    """Return what every YAML file of a folder holds, by the name of the file, sorted."""
    place = resources.files(package).joinpath(folder)
    names = sorted(path.name for path in place.iterdir() if path.name.endswith(".yaml"))
    found = {name.removesuffix(".yaml"): place.joinpath(name) for name in names}
    return {name: _kept(file.read_text(encoding="utf-8"), name) for name, file in found.items()}


def _kept(text: str, name: str) -> Any:  # noqa: ANN401 - whatever a table holds
    """Parse a text once, as long as there is a folder to keep what it holds."""
    folder = _folder()
    digest = hashlib.sha256(text.encode()).hexdigest()[:24]
    kept = folder / f"{Path(name).stem}-{digest}.json" if folder else None
    if kept is not None:
        with suppress(OSError, ValueError):
            return json.loads(kept.read_bytes())
    import yaml  # noqa: PLC0415 - 10 ms that are spent once, where nothing is kept yet

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    parsed = yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader, in C where there is one
    if kept is not None:
        with suppress(OSError, TypeError):
            _write(kept, json.dumps(parsed).encode())
    return parsed


def _folder() -> Path | None:
    """Return where parsed tables are kept, or None where nothing can be written."""
    base = os.environ.get("XDG_CACHE_HOME") or (Path.home() / ".cache")
    folder = Path(base) / "weft" / "tables"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: another process may read it at the same time."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    Path(file.name).replace(path)
