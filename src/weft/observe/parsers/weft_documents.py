"""Documents of weft itself (clusters, jobs, scenarios): no output of a tool, so no facts."""

from collections.abc import Iterable

from weft.observe.facts.base import Fact
from weft.observe.parser import READ, Parser, Source


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    del source, number
    version = str(value.get("apiVersion", "")) if isinstance(value, dict) else ""
    return READ if version.startswith("weft/") else None


weft_documents = Parser(tool="weft's own documents", document=_document, rank=1)
