"""The one place that talks to numba.

Kernels are plain functions of record tables and numbers. Three facts shape the settings:

* numba counts references of array arguments atomically, which makes small kernels that pass
  tables around 5 to 12 times slower; ``_nrt=False`` ends that, so kernels allocate nothing;
* a small function costs nothing only when it is inlined, so ``inner`` forces it;
* numba's disk cache does not notice an edit in another file, so the cache folder is named
  after the hash of weft's kernel sources; only entries are cached, which hold all the rest.

``NUMBA_DISABLE_JIT=1`` runs the same sources as plain Python, with the same results.
"""

import contextlib
import functools
import hashlib
import importlib.util
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
import numba.extending
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils  # type: ignore[attr-defined, unused-ignore]
from numba.np import arrayobj  # type: ignore[attr-defined, unused-ignore]

try:
    import fcntl
except ImportError:  # not on Windows, where caches are left alone
    fcntl = None  # type: ignore[assignment]

F = TypeVar("F", bound=Callable[..., Any])
Table = np.recarray[Any, Any]

_PACKAGE = Path(__file__).parent
CACHE_LINE_BYTES = 64
COMPILED = not getattr(numba.config, "DISABLE_JIT")  # noqa: B009 - its stub does not know it


_MARKS_OF_KERNELS = (b"@inner", b"@entry", b"IntEnum", b"ladder(")
"""What a file holds that kernels are made of: themselves, their numbers, their ladders."""


def _source_hash() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for path in [Path(__file__), *sorted((_PACKAGE / "engines" / "packet").rglob("*.py"))]:
        text = path.read_bytes()
        if any(mark in text for mark in _MARKS_OF_KERNELS):
            digest.update(text)
    return digest.hexdigest()[:16]


@functools.cache
def announce_compilation(kind: str) -> None:
    """Say on the error stream why the first run of a kind of state takes a while.

    Kernels compile once for each kind, and ``note_compiled`` writes down that it is done.
    """
    if COMPILED and not _compiled_mark(kind).exists():
        sys.stderr.write("compiling the simulator (once after an update, 10 to 60 s)\n")
        remove_old_caches(CACHE.parent)


@functools.cache
def note_compiled(kind: str) -> None:
    """Remember that the kernels are compiled for a kind of state."""
    with contextlib.suppress(OSError):  # a home that cannot be written keeps no kernels either
        _compiled_mark(kind).touch()


def _compiled_mark(kind: str) -> Path:
    return CACHE / f"{kind}.compiled"


def _cache_folder() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "weft" / "kernels" / _source_hash()


KEPT_CACHES = 8
"""Versions whose kernels stay compiled, the last used ones: some ten megabytes each."""
A_DAY_S = 86_400
IN_USE = "in_use"
"""File in a cache folder that is locked by every process which runs that version."""


def hold_cache(folder: Path) -> int | None:
    """Keep a cache folder from being removed while this process lives; return the lock."""
    if fcntl is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / IN_USE, os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(lock, fcntl.LOCK_SH)
        os.utime(lock)
    except OSError:  # a home that cannot be written: nothing is cached there either
        return None
    # Another process may have removed the folder while this one waited for the lock.
    return lock if (folder / IN_USE).exists() else hold_cache(folder)


def remove_old_caches(folder: Path) -> None:
    """Remove the kernels of all but the versions last used and those that run now."""
    caches = sorted(filter(Path.is_dir, folder.iterdir()), key=_last_use, reverse=True)
    for cache in caches[KEPT_CACHES:]:
        if not _is_held(cache):
            shutil.rmtree(cache, ignore_errors=True)


def _last_use(cache: Path) -> float:
    lock = cache / IN_USE
    return (lock if lock.exists() else cache).stat().st_mtime


def _is_held(cache: Path) -> bool:
    """Say whether a process runs a version; one without a lock may, for a day."""
    if fcntl is None or not (cache / IN_USE).exists():
        return fcntl is None or time.time() - _last_use(cache) < A_DAY_S
    try:
        with (cache / IN_USE).open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


CACHE = _cache_folder()
_LOCK = hold_cache(CACHE)
if "NUMBA_CACHE_DIR" not in os.environ:
    setattr(numba.config, "CACHE_DIR", str(CACHE))  # noqa: B010 - set at run time by design


def _count_from_the_front(fix: Callable[..., Any]) -> Callable[..., Any]:
    """Leave indices of our kernels as they are; elsewhere negative ones count from the end.

    Kernels have no such indices, and looking for them at every access takes a fifth of their
    time. Run with ``NUMBA_BOUNDSCHECK=1`` to see a kernel that breaks this.
    """

    def fixed(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:  # noqa: ANN401 - as numba calls it
        if context.fndesc is not None and context.fndesc.modname.startswith("weft"):
            return context.cast(builder, index, kind, numba.types.intp)
        return fix(context, builder, kind, index, size)

    return fixed


if hasattr(arrayobj, "fix_integer_index"):  # private: without it kernels are slower, no more
    arrayobj.fix_integer_index = _count_from_the_front(arrayobj.fix_integer_index)


def _jit(function: Callable[..., Any], **flags: bool) -> Any:  # noqa: ANN401 - a dispatcher
    njit: Any = numba.njit  # its stub does not know _nrt
    return njit(_nrt=False, error_model="numpy", **flags)(function)


def inner(function: F) -> F:
    """Compile a function that other kernels call; it is always inlined."""
    flags = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast("F", _jit(function, **flags))


def entry(function: F) -> F:
    """Compile a kernel that Python calls; it releases the interpreter's lock."""
    return cast("F", _jit(function, cache=True, nogil=True))


def table(rows: int, dtype: np.dtype[np.void]) -> Table:
    """Make a table of zeros; ``row.field`` works with and without compilation.

    It begins at a cache line, so that rows of 64 or 128 bytes share none.
    """
    size_bytes = rows * dtype.itemsize
    raw = np.zeros(size_bytes + CACHE_LINE_BYTES, np.uint8)
    skip = -raw.ctypes.data % CACHE_LINE_BYTES
    return cast("Table", raw[skip : skip + size_bytes].view(dtype).view(np.recarray))


def _prefetch_nothing(rows: Table, row: int, line: int) -> None:
    """Stand in for ``prefetch`` where nothing is compiled: it changes no result."""


@numba.extending.intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _prefetch(_context: Any, rows: Any, row: Any, line: Any) -> Any:  # noqa: ANN401, ARG001 - as numba calls it
    """Ask for one cache line of a row of a table, before it is needed."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        array = cgutils.create_struct_proxy(signature.args[0])(
            context, builder, value=arguments[0]
        )
        byte, number, number_64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
        offset = builder.mul(arguments[1], array.itemsize)
        lines = builder.mul(arguments[2], number_64(CACHE_LINE_BYTES))
        offset = builder.add(offset, lines)
        start = builder.bitcast(array.data, byte.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), number, number, number])
        asks = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        to_read, keep_close, data = number(0), number(3), number(1)
        builder.call(asks, [builder.gep(start, [offset]), to_read, keep_close, data])
        return context.get_dummy_value()

    return numba.types.void(rows, numba.types.int64, numba.types.int64), generate


prefetch: Any = _prefetch if COMPILED else _prefetch_nothing


def _read_choice(state: Any) -> bool:  # noqa: ANN401 - a tuple of tables
    """Stand in for ``choice`` where nothing is compiled."""
    return bool(getattr(type(state), "CHOICE", False))


@numba.extending.intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _choice(_context: Any, state: Any) -> Any:  # noqa: ANN401 - as numba calls it
    """Return the constant ``CHOICE`` of the class of a tuple; kernels compile once for each.

    What an ``if`` on it leaves out costs nothing, for the compiler knows the answer.
    """
    chosen = bool(getattr(state.instance_class, "CHOICE", False))

    def generate(_context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:  # noqa: ANN401
        return ir.Constant(ir.IntType(1), int(chosen))

    return numba.types.boolean(state), generate


choice: Any = _choice if COMPILED else _read_choice


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
