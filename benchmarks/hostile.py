"""Hostile input through every verb: mutated samples, and shapes that made readers slow.

    python benchmarks/hostile.py                       # 100,000 mutations: some two hours
    python benchmarks/hostile.py --mutations 2000      # minutes, as CI runs it
    python benchmarks/hostile.py --shapes              # seconds per MiB, 64 KiB to 64 MiB

A mutation is a sample that was cut, repeated, mixed with others and with odd pieces, by a seed
that is printed: the same seed makes the same input. Each goes through one verb in a worker of
its own, which ends after ``HANG_S`` of processor time: that is a hang. Counted are crashes (an
exception that is no error of weft), hangs, files that a diagnosis lost (one is given beside
each mutation and must be read), planted secrets that leave the collector, and the peak memory
of a worker.
Inputs that fail are kept in ``--keep``: make each a test in tests/property/test_untrusted.py.
"""

import argparse
import multiprocessing
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from weft.bench.sweep import read_sweep
from weft.calibrate.calibration import read_file
from weft.check.diff import diff
from weft.collect.secrets import program, secrets
from weft.doctor.diagnose import diagnose
from weft.errors import WeftError
from weft.inventory.explain import explain
from weft.inventory.inventory import ALL_FILES
from weft.lint.lint import lint
from weft.readers.read import read
from weft.report import show
from weft.spec import load
from weft.spec.load import load_case

ROOT: Final = Path(__file__).parents[1]
HANG_S: Final = 20
"""Processor time that a mutation may take: a busy machine makes no hang of a slow answer."""
WAITING_S: Final = 300.0
"""Wall time after which a mutation hangs that uses no processor at all."""
LONGEST: Final = 30_000
BATCH: Final = 250
HEALTHY: Final = "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n"
ODD: Final = (
    b"412..", b"1e999", "²".encode(), b"9" * 5000, b"NaN", b"0x" + b"f" * 400, b"\x1b[31m",
    b"\xff\xfe", b"\x00", b"\x9b", b"[" * 3000, b'{"a":' * 3000, b"{{a: " * 500, b"- " * 3000,
    b"&a [*a, *a]\n", b"_" * 80, b"-a_" * 60, b"\\", b'"', b"'", b"%n%s", b"\r", b"<<: *a\n",
    b"::error::x\n", b"<script>", b"](javascript:x)", b"\n" * 50, b" " * 5000, b"\xed\xb3\xbf",
)  # fmt: skip


def samples() -> list[tuple[str, bytes]]:
    """Return the name and the beginning of every sample that a verb reads."""
    folders = ("tests/samples", "examples")
    files = sorted(one for at in folders for one in (ROOT / at).rglob("*") if one.is_file())
    return [(one.name, one.read_bytes()[:LONGEST]) for one in files if one.suffix != ".py"]


def mutated(seed: int, known: list[tuple[str, bytes]]) -> tuple[str, bytes]:
    """Return one mutation: its name, which readers look at, and its bytes."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    name, data = chance.choice(known)
    for _ in range(chance.randrange(1, 8)):
        at, end = sorted(chance.randrange(len(data) + 1) for _ in "ab")
        foreign = chance.choice(known)[1][at : at + 300]
        piece = chance.choice((*ODD, foreign, data[at:end] * chance.randrange(1, 4)))
        data = data[:at] + piece + data[min(end, at + chance.randrange(60)) :]
    return name, data[: 4 * LONGEST]


def _diagnose(path: Path) -> str:
    beside = path.parent / "beside.txt"
    beside.write_text(HEALTHY)
    found = diagnose([path.parent])
    for form in ("text", "json", "md", "html"):
        show(found, form).encode()
    failed = [one.notes[0] for one in found.files if one.file == ALL_FILES]
    failed += [note for one in found.files for note in one.notes if " failed: " in note]
    if failed:
        return f"contained: {failed[0]}"
    return "" if any("peermem" in one.cause for one in found.findings) else "lost: beside.txt"


def _lint(path: Path) -> str:
    found = lint([path])
    for form in ("text", "junit", "github", "sarif"):
        show(found, form).encode()
    return ""


def _diff(path: Path) -> str:
    diff(load.preset("dgx_h100", hosts=2), [path])
    return ""


def _explain(path: Path) -> str:
    show(explain(read(path)), "text").encode()
    return ""


def _calibrate(path: Path) -> str:
    read_file(path)
    return ""


def _bench(path: Path) -> str:
    read_sweep([path])
    return ""


def _spec(path: Path) -> str:
    load_case([path])
    return ""


def _collect(path: Path) -> str:
    """Plant secrets between the lines of an output; none may leave the collector's filter."""
    chance = random.Random(path.stat().st_size)  # noqa: S311 - no secret
    sample = path.read_bytes()
    known = [one for one in secrets() if one.planted.encode() not in sample]
    planted = chance.sample(known, 8)
    lines = sample.split(b"\n")
    for one in planted:
        lines.insert(chance.randrange(len(lines) + 1), one.line.encode())
    words = ["awk", "-v", "secret=s", "-v", "file=x", "-v", "report=/dev/null", program()]
    done = subprocess.run(words, input=b"\n".join(lines), capture_output=True, check=True)
    left = [one.kind for one in planted if one.planted.encode() in done.stdout]
    return f"leak: {left[0]}" if left else ""


VERBS: Final[dict[str, Callable[[Path], str]]] = {
    "diagnose": _diagnose, "explain": _explain, "lint": _lint, "diff": _diff,
    "calibrate": _calibrate, "predict": _spec, "collect": _collect, "bench judge": _bench,
}  # fmt: skip


def tried(verb: str, seed: int, known: list[tuple[str, bytes]], folder: Path) -> str:
    """Give one mutation to one verb; return what went wrong, or nothing."""
    name, data = mutated(seed, known)
    place = folder / str(seed)
    place.mkdir()
    (place / name).write_bytes(data)
    try:
        return VERBS[verb](place / name)
    except WeftError:
        return ""
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return f"crash: {type(error).__name__}: {str(error)[:200]}"
    finally:
        for one in place.iterdir():
            one.unlink()


def _work(seeds: list[int], verbs: list[str], folder: str, pipe) -> None:  # noqa: ANN001
    known = samples()
    for seed in seeds:
        verb = verbs[seed % len(verbs)]
        pipe.send((seed, verb, None))
        used = int(time.process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (used + HANG_S, resource.RLIM_INFINITY))
        pipe.send((seed, verb, tried(verb, seed, known, Path(folder))))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pipe.send((-1, "", str(peak)))


def _ended(exitcode: int | None) -> str:
    if exitcode == -signal.SIGXCPU:
        return f"hang: longer than {HANG_S} s of processor time"
    return f"crash: the process ended with {exitcode}"


def _outcomes(seeds: list[int], verbs: list[str]) -> Iterator[tuple[int, str, str]]:
    """Yield seed, verb and outcome of each mutation; a worker that hangs is ended."""
    context = multiprocessing.get_context("spawn")
    while seeds:
        batch, seeds = seeds[:BATCH], seeds[BATCH:]
        ours, theirs = context.Pipe(duplex=False)
        with tempfile.TemporaryDirectory() as folder:
            worker = context.Process(target=_work, args=(batch, verbs, folder, theirs))
            worker.start()
            theirs.close()
            left = list(batch)
            at: tuple[int, str] | None = None
            while True:
                silent = not ours.poll(WAITING_S)
                try:
                    seed, verb, outcome = (0, "", "") if silent else ours.recv()
                except EOFError:
                    worker.join()
                    if at:  # it died in the middle of one
                        yield *at, _ended(worker.exitcode)
                    break
                if silent:
                    worker.kill()
                    if at:
                        yield *at, f"hang: longer than {WAITING_S:.0f} s"
                    break
                if seed < 0:
                    yield -1, "", outcome
                elif outcome is None:
                    at = (seed, verb)
                    left.remove(seed)
                else:
                    at = None
                    yield seed, verb, outcome
            worker.join()
            seeds = left + seeds


def soak(count: int, first: int, verbs: list[str], keep: Path) -> int:
    """Try so many mutations; print what went wrong; return how many did."""
    began, counts, peak_kib, done = time.monotonic(), Counter[str](), 0, 0
    known = samples()
    for seed, verb, outcome in _outcomes(list(range(first, first + count)), verbs):
        if seed < 0:
            peak_kib = max(peak_kib, int(outcome))
            continue
        done += 1
        if outcome:
            counts[outcome.partition(":")[0]] += 1
            name, data = mutated(seed, known)
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{seed}-{verb}-{name}").write_bytes(data)
            print(f"seed {seed}, weft {verb}, {name}: {outcome}", flush=True)
    print(
        f"{done} mutations of {len(known)} samples in {time.monotonic() - began:.0f} s through "
        f"{', '.join(verbs)}:\n"
        f"crashes {counts['crash'] + counts['contained']}, hangs {counts['hang']}, "
        f"lost files {counts['lost']}, leaks of planted secrets {counts['leak']}, "
        f"peak memory {peak_kib / 1024:.0f} MiB"
    )
    return counts.total()


CHANNEL: Final = b"h:1:%d [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P\n"
SHAPES: Final[dict[str, Callable[[int], bytes]]] = {
    "one line": lambda n: b"a" * n,
    "empty lines": lambda n: b"\n" * n,
    "spaces": lambda n: b" " * n,
    "underscores": lambda n: b"_" * n,
    "rules of dashes": lambda n: (b"-" * 79 + b"\n") * (n // 80),
    "ethtool -S -a_": lambda n: b"$ ethtool -S " + b"-a_" * (n // 3),
    "open brackets": lambda n: b"[" * n,
    "open braces": lambda n: b'{"a":' * (n // 5),
    "JSON on one line": lambda n: (
        b'[{"ifname": "e", "mtu": 9000}' + b',{"a": 1}' * (n // 9) + b"]"
    ),
    "JSON with repeated keys": lambda n: b"{" + b'"a": 1, ' * (n // 8) + b'"b": 2}',
    "quotation marks": lambda n: b'"' * n,
    "backslashes": lambda n: b"\\" * n,
    "digits": lambda n: b"9" * n,
    "key=value": lambda n: b"x=1," * (n // 4),
    "colours": lambda n: b"\x1b[31mx\x1b[0m\n" * (n // 11),
    "NCCL INFO": lambda n: (
        b"h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P\n" * (n // 56)
    ),
    "NCCL INFO, all different": lambda n: b"".join(
        b"h:1:%d [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P\n" % i
        for i in range(n // 60)
    ),
    "kernel log": lambda n: b"[ 12.3] mlx5_core 0000:18:00.0 ens1: Link down\n" * (n // 47),
    "table of a tool": lambda n: (
        b"Interface Lanes Speed\n" + b"Ethernet0 1,2 100G up\n" * (n // 22)
    ),
    "prompts": lambda n: b"root@h:~# ibstat\nCA 'mlx5_0'\n" * (n // 29),
    "markers of processes": lambda n: b"[1,0]<stdout>: " * (n // 15),
    "not UTF-8": lambda n: b"\xff\xfe\xfd\n"[1:] * (n // 3),
}
SIZES: Final = tuple(1 << power for power in (16, 20, 23, 26))
FLAT: Final = 4.0
"""How much a MiB of the largest may take, of what one of 1 MiB takes."""


def shapes(most_bytes: int) -> int:
    """Print seconds per MiB of each shape and size; return how many shapes are not flat."""
    sizes = [size for size in SIZES if size <= most_bytes]
    print("seconds per MiB".ljust(28), *(f"{size >> 10:>8} KiB" for size in sizes))
    steep = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shape.txt"
        path.write_bytes(b"warm up\n")
        diagnose([path])
        for name, make in SHAPES.items():
            taken = []
            for size in sizes:
                path.write_bytes(make(size))
                began = time.process_time()
                diagnose([path])
                taken.append((time.process_time() - began) / (size / (1 << 20)))
            is_steep = taken[-1] > FLAT * max(taken[1 if len(taken) > 1 else 0], 0.01)
            steep += is_steep
            print(
                name.ljust(28),
                *(f"{one:>12.4f}" for one in taken),
                "steep" * is_steep,
                flush=True,
            )
    return steep


def main() -> int:
    """Run what the words ask for; return 1 where something went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mutations", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verb", choices=VERBS, action="append")
    parser.add_argument("--keep", type=Path, default=Path("hostile"))
    parser.add_argument("--shapes", action="store_true")
    parser.add_argument("--most-mib", type=int, default=64)
    given = parser.parse_args()
    if given.shapes:
        return int(shapes(given.most_mib << 20) > 0)
    return int(soak(given.mutations, given.seed, given.verb or list(VERBS), given.keep) > 0)


if __name__ == "__main__":
    sys.exit(main())
