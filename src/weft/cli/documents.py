"""Which words of a command are documents of weft; nothing of them is read here.

Apart from ``inputs``, which loads them: a command without a document shall not wait for the
models of documents (an eighth of a second).
"""

import re
from collections.abc import Container, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from weft.cli.options import ClusterGiven

_YAML: Final = (".yaml", ".yml")


def is_given(given: "ClusterGiven", documents: Sequence[Path] = ()) -> bool:
    """Tell whether the words of a command give any cluster."""
    return bool(documents or given.files or given.preset)


def documents_among(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Part the documents of weft from other files: logs, outputs, configurations.

    A document is a YAML file with ``apiVersion: weft/`` at the start of a line.
    """
    documents = [path for path in paths if _is_document(path)]
    return documents, [path for path in paths if path not in documents]


def words_and_documents(
    words: Sequence[str], known: Container[str]
) -> tuple[list[str], list[Path]]:
    """Part names from the files of documents: what is known is a name, ``-`` is a file."""
    files = [
        word for word in words
        if word not in known and (word == "-" or word.endswith(_YAML) or Path(word).exists())
    ]  # fmt: skip
    return [word for word in words if word not in files], [Path(word) for word in files]


def _is_document(path: Path) -> bool:
    if path.suffix not in _YAML or not path.is_file():
        return False
    with path.open("rb") as stream:
        return (
            re.search(rb"^apiVersion:\s*weft/", stream.read(1 << 16), re.MULTILINE) is not None
        )
