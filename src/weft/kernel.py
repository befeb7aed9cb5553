"""The one place that talks to numba.

Kernels are plain functions of record tables and numbers. Three facts shape the settings:

* numba counts references of array arguments atomically, which makes small kernels that pass
  tables around 5 to 12 times slower; ``_nrt=False`` ends that, so kernels allocate nothing;
* a small function costs nothing only when it is inlined, so ``inner`` forces it;
* numba's disk cache does not notice an edit in another file, so the cache folder is named
  after the hash of weft's kernel sources.

``NUMBA_DISABLE_JIT=1`` runs the same sources as plain Python, with the same results.
"""

import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
Table = np.recarray[Any, Any]

_PACKAGE = Path(__file__).parent


def _source_hash() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for path in [Path(__file__), *sorted((_PACKAGE / "engines" / "packet").rglob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "weft" / "kernels" / _source_hash()


CACHE = _cache_folder()
if "NUMBA_CACHE_DIR" not in os.environ:
    setattr(numba.config, "CACHE_DIR", str(CACHE))  # noqa: B010 - set at run time by design


def _jit(function: Callable[..., Any], **flags: bool) -> Any:  # noqa: ANN401 - a dispatcher
    njit: Any = numba.njit  # its stub does not know _nrt
    return njit(_nrt=False, error_model="numpy", cache=True, **flags)(function)


def inner(function: F) -> F:
    """Compile a function that other kernels call; it is always inlined."""
    return cast("F", _jit(function, forceinline=True))


def entry(function: F) -> F:
    """Compile a kernel that Python calls; it releases the interpreter's lock."""
    return cast("F", _jit(function, nogil=True))


def table(rows: int, dtype: np.dtype[np.void]) -> Table:
    """Make a table of zeros; ``row.field`` works with and without compilation."""
    return cast("Table", np.zeros(rows, dtype).view(np.recarray))


def ladder(name: str, arguments: str, plugins: Iterable[tuple[str, str]], hook: str) -> Any:  # noqa: ANN401 - a kernel
    """Write and import one kernel that calls plug-in number ``which`` of a folder.

    A call through a function pointer would cost a call per packet; an ``if`` ladder written
    by hand would be a list to edit. So the ladder is written from the folder's listing into
    the cache folder, where numba can cache it like any source file.

    Args:
        name: Of the kernel and of the file that holds it.
        arguments: What the hook takes, as source text ("flow, knobs, now").
        plugins: (module, exported name) in the order of their numbers.
        hook: Attribute of the exported plug-in that holds its kernel.
    """
    plugins = list(plugins)
    lines = ["from weft.kernel import inner"]
    lines += [
        f"from {module} import {plug} as p{i}" for i, (module, plug) in enumerate(plugins)
    ]
    lines += [f"h{i} = p{i}.{hook}" for i in range(len(plugins))]
    lines += ["@inner", f"def {name}(which, {arguments}):"]
    for i in range(len(plugins) - 1):
        lines += [f"    if which == {i}:", f"        return h{i}({arguments})"]
    lines += [f"    return h{len(plugins) - 1}({arguments})"]
    return getattr(_import_text(name, "\n".join(lines) + "\n"), name)


def _import_text(name: str, text: str) -> ModuleType:
    path = CACHE / f"{name}.py"
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(text)
        unfinished.replace(path)
    full_name = f"weft_ladder_{name}"
    spec = importlib.util.spec_from_file_location(full_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[full_name] = module
    spec.loader.exec_module(module)
    return module
