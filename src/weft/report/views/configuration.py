"""`weft render`: which files there are, and how far each kind is proven."""

from collections.abc import Iterator

from weft.generate.target import MANIFEST, Configuration
from weft.report.page import Page, Sentences, Table, View, rows_of
from weft.report.views._provenance import footer


def _page(result: Configuration) -> Page:
    return Page(
        title=f"Configuration of {result.cluster}: {len(result.files)} files",
        answer=(
            Table(
                title="Files",
                columns=("target", "files", "bytes", "first"),
                rows=rows_of(*_targets(result)),
                left=(0, 3),
            ),
            *_left_out(result),
            *_applied(result),
            Sentences(lines=(_where(result),)),
        ),
        blocks=(
            Table(
                title="Validation",
                columns=("target", "file", "validated by"),
                rows=rows_of(*((p.target, p.file, p.proof.value) for p in result.proofs)),
                left=(0, 1, 2),
            ),
        ),
        footer=footer(result.provenance)[:1],
    )


def _applied(result: Configuration) -> Iterator[Sentences]:
    if result.applied:
        yield Sentences(lines=tuple(f"{one.target}: {one.how}" for one in result.applied))


def _left_out(result: Configuration) -> Iterator[Table]:
    if result.left_out:
        yield Table(
            title="Left out",
            columns=("target", "why"),
            rows=rows_of(*((one.target, one.reason) for one in result.left_out)),
            left=(0, 1),
        )


def _where(result: Configuration) -> str:
    if result.folder:
        return f"Written to {result.folder}, with the checksums in {MANIFEST}."
    return "Nothing was written. --out DIR writes the files; -o json has the text of each."


def _targets(result: Configuration) -> Iterator[tuple[str, ...]]:
    by_target: dict[str, list[tuple[str, int]]] = {}
    for file in result.files:
        target, _, path = file.path.partition("/")
        by_target.setdefault(target, []).append((path, len(file.text.encode())))
    for target, files in by_target.items():
        size = sum(size for _, size in files)
        yield target, str(len(files)), str(size), files[0][0]


configuration = View(
    shows="weft.generate.target.Configuration", verb="render", page=_page
)  # fmt: skip
