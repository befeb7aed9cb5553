"""Compiled kernels on disk: a folder a version, and old ones go."""

import os
import subprocess
import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest

from weft import kernel
from weft.kernel.cache import IN_USE, KEPT_CACHES, hold_cache, remove_old_caches

fcntl = pytest.importorskip("fcntl")


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
