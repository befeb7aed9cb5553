"""The folder of compiled kernels: one a version of the sources, and old ones go.

numba's own index does not notice an edit in another file than that of the kernel it keeps, so
the folder is named after the hash of all that kernels are made of.
"""

import atexit
import functools
import hashlib
import os
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path

try:
    import numba
except ImportError:  # then nothing is compiled
    numba = None  # type: ignore[assignment]
try:
    import fcntl
except ImportError:  # not on Windows, where caches are left alone
    fcntl = None  # type: ignore[assignment]

_PACKAGE = Path(__file__).parent.parent
_MARKS_OF_KERNELS = (b"@inner", b"@entry", b"IntEnum", b"ladder(")
"""What a file holds that kernels are made of: themselves, their numbers, their ladders."""


def _source_hash() -> str:
    digest = hashlib.sha256(getattr(numba, "__version__", "").encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    for path in sorted((_PACKAGE / "engines").rglob("*.py")):
        text = path.read_bytes()
        if any(mark in text for mark in _MARKS_OF_KERNELS):
            digest.update(text)
    return digest.hexdigest()[:16]


def cache_folder(root: Path) -> Path:
    """Return the folder for kernels of these sources below a user's cache folder.

    What is in it is unpickled, so that a folder of another user is as good as code of
    theirs: such a one is refused, and kernels are kept for this process alone.
    """
    folder = root / "weft" / "kernels" / _source_hash()
    strange = [path for path in (folder, *folder.parents[:2]) if not _is_private(path)]
    if not strange:
        return folder
    sys.stderr.write(
        f"not used: {strange[0]}, because it is another user's or all can write it;"
        " kernels are compiled each time\n"
    )
    own = Path(tempfile.mkdtemp(prefix="weft-kernels-"))
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return own


def _is_private(path: Path) -> bool:
    """Return whether only this user can write a path; one that does not exist yet is."""
    try:
        found = path.stat()
    except OSError:
        return True
    return fcntl is None or (found.st_uid == os.getuid() and not found.st_mode & stat.S_IWOTH)


@functools.cache
def announce_compilation(what: str) -> None:
    """Say on the error stream why a run takes a while; kernels compile for a kind of state."""
    sys.stderr.write(f"compiling {what} (once after an update, some 10 s of one core)\n")
    remove_old_caches(CACHE.parent)


KEPT_CACHES = 8
"""Versions whose kernels stay compiled, the last used ones: a megabyte or two each."""
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


CACHE = cache_folder(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"))
_LOCK = hold_cache(CACHE)
if numba is not None and "NUMBA_CACHE_DIR" not in os.environ:
    setattr(numba.config, "CACHE_DIR", str(CACHE))  # noqa: B010 - set at run time by design
