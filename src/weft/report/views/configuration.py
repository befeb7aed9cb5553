"""`weft render`: which files there are, and how far each kind is proven."""

from collections.abc import Iterator

from weft.generate.target import Configuration
from weft.readers.rendered import MANIFEST
from weft.report.page import Block, Sentences, Table, View, table


def _title(result: Configuration) -> str:
    return f"Configuration of {result.cluster}: {len(result.files)} files"


def _answer(result: Configuration) -> Iterator[Block]:
    yield Table(
        title="Files",
        columns=("target", "files", "bytes", "first"),
        rows=tuple(_targets(result)),
        left=(0, 3),
    )
    if result.left_out:
        names = ", ".join(target.target for target in result.left_out)
        yield Sentences(lines=(f"Left out, why with --full: {names}.",))
    where = "Nothing was written. --out DIR writes the files; -o json has the text of each."
    if result.folder:
        where = f"Written to {result.folder}, with the checksums in {MANIFEST}."
    yield Sentences(lines=(where,))


def _targets(result: Configuration) -> Iterator[tuple[str, ...]]:
    by_target: dict[str, list[tuple[str, int]]] = {}
    for file in result.files:
        target, _, path = file.path.partition("/")
        by_target.setdefault(target, []).append((path, len(file.text.encode())))
    for target, files in by_target.items():
        size = sum(size for _, size in files)
        yield target, str(len(files)), str(size), files[0][0]


def _blocks(result: Configuration) -> Iterator[Block]:
    yield table(result.left_out, {"target": "target", "why": "reason"}, title="Left out")
    applied = tuple(f"{step.target}: {step.how}" for step in result.applied)
    yield Sentences(title="How to apply", lines=applied)
    columns = {"target": "target", "file": "file", "validated by": "proof"}
    yield table(result.proofs, columns, title="Validation")


configuration = View(
    shows="weft.generate.target.Configuration", verb="render", title=_title, answer=_answer,
    blocks=_blocks, is_modelled=False,
)  # fmt: skip
