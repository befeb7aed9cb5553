"""Compiled kernels on disk: a folder a version, and old ones go."""

import os
import subprocess
import sys

import pytest

from weft import kernel
from weft.kernel import IN_USE, KEPT_CACHES, hold_cache, remove_old_caches

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


def test_every_kind_of_state_is_announced_until_it_is_compiled(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(kernel, "CACHE", tmp_path)
    monkeypatch.setattr(kernel, "COMPILED", True)
    announce, note = kernel.announce_compilation.__wrapped__, kernel.note_compiled.__wrapped__
    announce("State")
    note("State")
    assert capsys.readouterr().err.startswith("compiling the simulator")
    announce("State")
    assert capsys.readouterr().err == ""
    announce("StateOfClasses")
    assert capsys.readouterr().err.startswith("compiling the simulator")
