"""Compiled kernels on disk: a folder a version, and old ones go."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

from weft import kernel
from weft.kernel.cache import (
    IN_USE,
    KEPT_CACHES,
    cache_folder,
    hold_cache,
    remove_old_caches,
)

fcntl = pytest.importorskip("fcntl")
ROOT = Path(__file__).parents[2]


def caches(folder, number, *, locked=True):
    """Make cache folders; the first was used last."""
    made = []
    for place in range(number):
        cache = folder / f"version{place}"
        cache.mkdir(parents=True)
        used = cache / IN_USE if locked else cache
        if locked:
            used.touch()
        os.utime(used, (1_000_000 - place, 1_000_000 - place))
        made.append(cache)
    return made


def test_the_versions_last_used_are_kept_and_older_ones_removed(tmp_path):
    made = caches(tmp_path, KEPT_CACHES + 3)
    remove_old_caches(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(made[:KEPT_CACHES])


def test_a_version_that_another_process_runs_is_kept(tmp_path):
    made = caches(tmp_path, KEPT_CACHES + 3)
    hold = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_SH); print()"
    command = [sys.executable, "-c", hold + "; sys.stdout.flush(); input()"]
    with subprocess.Popen(
        [*command, made[-1] / IN_USE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        running.stdout.readline()
        remove_old_caches(tmp_path)
        running.communicate(b"\n")
    assert made[-1].exists()
    assert not made[-2].exists()


def test_a_folder_without_a_lock_is_kept_for_a_day_only(tmp_path):
    made = caches(tmp_path, KEPT_CACHES + 2, locked=False)
    os.utime(made[-1])
    remove_old_caches(tmp_path)
    assert made[-1].exists()
    assert not made[-2].exists()


def test_holding_a_cache_makes_it_the_last_used(tmp_path):
    made = caches(tmp_path, KEPT_CACHES + 1)
    lock = hold_cache(made[-1])
    remove_old_caches(tmp_path)
    os.close(lock)
    assert made[-1].exists()
    assert not made[-2].exists()


def test_a_home_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").touch()
    assert hold_cache(tmp_path / "file" / "version") is None


class Sums(NamedTuple):
    numbers: np.ndarray


class OtherSums(Sums):
    __slots__ = ()
    TITLE = "other sums"


def add_up(state, count):
    total = 0
    for place in range(count):
        total += state.numbers[place]
    return total


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Compile into an empty folder; give what is said of it by a new process."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    state = Sums(np.arange(5))

    def call(kind):
        kernel.cache.announce_compilation.cache_clear()
        assert kernel.entry(add_up)(kind(*state), 5) == 10
        return capsys.readouterr().err

    return call


@pytest.mark.skipif(not kernel.COMPILED, reason="nothing is compiled")
def test_compiling_is_announced_only_where_something_is_compiled(said):
    assert said(Sums).startswith("compiling the simulator (")
    assert not said(Sums)
    assert said(OtherSums).startswith("compiling other sums (")
    assert not said(OtherSums)
    assert not said(Sums)


def test_a_cache_folder_of_somebody_else_is_refused(tmp_path, capsys):
    usual = cache_folder(tmp_path)
    assert usual.is_relative_to(tmp_path)
    usual.mkdir(parents=True)
    assert cache_folder(tmp_path) == usual
    usual.chmod(0o777)
    refused = cache_folder(tmp_path)
    assert not refused.is_relative_to(tmp_path / "weft")
    assert refused.stat().st_mode & 0o077 == 0
    assert "all can write it" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"", None])
def test_a_damaged_cache_is_compiled_again(damage, tmp_path):
    """Of every file half or nothing is left, as after a full disk."""
    run = ["-m", "weft", "simulate", "examples/scenarios/sharp.yaml", "-o", "json"]
    told = []
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, *run], check=False, capture_output=True, text=True,
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)}, cwd=ROOT,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told.append(("compiling" in done.stderr, done.stdout))
        files = [*tmp_path.rglob("*.nbi"), *tmp_path.rglob("*.nbc")]
        assert files
        if len(told) == 1:
            for file in files:
                whole = file.read_bytes()
                file.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    compiled, results = zip(*told, strict=True)
    assert compiled == (True, True, False)
    assert len(set(results)) == 1


KERNEL = """
from typing import NamedTuple
import numpy as np
from weft import kernel

class State(NamedTuple):
    rows: np.ndarray
    numbers: np.ndarray

@kernel.inner
def twice(number):
    return 2 * number

@kernel.entry
def add(state, count):
    total = 0.0
    for place in range(count):
        state.rows[place].seen += twice(place)
        total += state.rows[place].seen * state.numbers[place]
    return total

state = State(kernel.table(4, np.dtype([("seen", np.int32)])), np.arange(4.0))
print(kernel.COMPILED, add(state, 4), add(state, 4))
"""
BROKEN = {
    "numba is missing": ("numba/__init__.py", "raise ImportError('no numba here')"),
    "a pass of numba has moved": (
        "sitecustomize.py",
        "import numba.core.typed_passes as moved; del moved.NativeLowering",
    ),
    "numba refuses to compile": (
        "sitecustomize.py",
        """import numba.core.codegen as moved
def refuse(*_): raise AttributeError('not here')
moved.JITCodeLibrary.add_ir_module = refuse""",
    ),
}


def _added_up(folder, **environment):
    (folder / "sums.py").write_text(KERNEL)
    paths = f"{folder}:{ROOT / 'src'}"
    done = subprocess.run(
        [sys.executable, "sums.py"], cwd=folder, check=True, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": paths, "XDG_CACHE_HOME": str(folder), **environment},
    )  # fmt: skip
    return done.stdout.split(), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("case", BROKEN)
def test_without_its_extension_of_numba_everything_still_runs(case, tmp_path):
    name, text = BROKEN[case]
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    said, told = _added_up(tmp_path)
    assert said == ["False", "28.0", "56.0"]
    assert told.count("the simulator is not compiled") == 1


@pytest.mark.slow
@pytest.mark.skipif(not kernel.COMPILED, reason="nothing is compiled")
def test_compiled_or_not_the_result_is_the_same_and_nothing_is_said_of_a_wish(tmp_path):
    assert _added_up(tmp_path)[0] == ["True", "28.0", "56.0"]
    assert _added_up(tmp_path, NUMBA_DISABLE_JIT="1") == (["False", "28.0", "56.0"], "")
