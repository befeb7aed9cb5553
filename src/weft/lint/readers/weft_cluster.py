"""Cluster documents of weft: the fabric, the version of NCCL, the variables of the job."""

from collections.abc import Iterator
from pathlib import Path

from weft.errors import WeftError
from weft.lint.facts import Described, Fact, Variable
from weft.lint.flaws import flaw
from weft.lint.reader import File, Reader


def _claims(file: File) -> bool:
    return any(
        tree["apiVersion"].string().startswith("weft/") and tree["kind"].string() == "Cluster"
        for tree in file.documents
    )


def _read(file: File) -> Iterator[Fact]:
    from weft.spec.cluster import Cluster  # noqa: PLC0415 - where there is a document of weft
    from weft.spec.load import load_documents  # noqa: PLC0415 - as above

    for tree in file.documents:
        if tree["kind"].string() != "Cluster":
            continue
        for name, value in tree.under("spec", "nccl", "env").items():
            yield Variable(at=value.at, name=name, value=value.string())
        if not file.text.origin:
            continue
        try:
            parts = load_documents(Path(file.text.origin))
        except WeftError as failure:
            first = str(failure).splitlines()[0]
            message = first.removeprefix(f"{file.text.origin}:")
            yield flaw(tree.at, "cluster_refused", message=message)
            continue
        for part in parts:
            if isinstance(part, Cluster):
                yield Described(at=tree.at, cluster=part)


weft_cluster = Reader(title="cluster document of weft", claims=_claims, read=_read)
