"""Fuzz the readers and rules of the doctor with atheris, a coverage-guided fuzzer.

    pip install atheris
    python benchmarks/fuzz_parsers.py FOLDER -max_total_time=600

FOLDER keeps the inputs that reached new code; it is filled from the samples where it is empty.
An input that fails is written to the current folder: make it a test in
tests/property/test_parsers.py (FOUND), then mend the reader.
A line may take a tenth of a second: what takes longer is a fault too, so give ``-timeout=10``.
"""

import sys
from pathlib import Path

import atheris  # type: ignore[import-not-found]  # a tool of the developer

with atheris.instrument_imports(include=["weft.observe", "weft.doctor"]):
    from weft.doctor.ranking import rank

    from weft.doctor.diagnose import find
    from weft.observe.reading import all_parsers, read_text

    all_parsers()

ROOT = Path(__file__).parents[1]
LONGEST = 20_000


def one(raw: bytes) -> None:
    """Read an input, account for its lines and ask every rule."""
    text = raw.decode("utf-8", errors="replace")
    facts, read = read_text(text, "fuzz.txt")
    told = read.unread + read.blank + sum(count for _, count in read.tools)
    if not read.skipped and told != read.lines:
        message = f"{read.lines} lines, {told} accounted for"
        raise AssertionError(message)
    rank(find(facts))


def seed(folder: Path) -> None:
    """Fill an empty folder from the samples."""
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        samples = (ROOT / "tests" / "samples").glob("*/*/*/*")
        for number, path in enumerate(sorted(samples)):
            if path.is_file() and path.suffix != ".json" and path.name != "cause":
                (folder / f"seed_{number}").write_bytes(path.read_bytes()[:LONGEST])


if __name__ == "__main__":
    folders = [Path(word) for word in sys.argv[1:] if not word.startswith("-")]
    for given in folders[:1]:
        seed(given)
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
