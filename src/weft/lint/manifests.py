"""Objects of Kubernetes in files: lists are opened, embedded JSON is read with its place."""

from collections.abc import Iterator
from typing import Any

from weft.lint.document import Tree
from weft.lint.facts import Flaw
from weft.lint.flaws import flaw
from weft.lint.reader import File
from weft.readers.untrusted import json_value


def objects(file: File) -> Iterator[Tree]:
    """Yield every object of a file that has a kind; those of a List one by one."""
    for tree in file.documents:
        yield from _objects(tree)


def _objects(tree: Tree) -> Iterator[Tree]:
    if isinstance(tree.value, list):
        for item in tree.each():
            yield from _objects(item)
    elif isinstance(tree.value, dict) and tree["kind"] and tree["apiVersion"]:
        if tree["kind"].string().endswith("List") and tree["items"]:
            for item in tree["items"].each():
                yield from _objects(item)
        elif not tree["apiVersion"].string().startswith("weft/"):
            yield tree


def name_of(tree: Tree) -> str:
    """Return how an object is called: its kind and its name."""
    name = tree.under("metadata", "name") or tree.under("metadata", "generateName")
    return f"{tree['kind'].string()}/{name.string()}"


def embedded(part: Tree, found: list[Flaw]) -> Any:  # noqa: ANN401 - plain values of JSON
    """Read JSON in a string; note where it is broken."""
    text = part.string()
    if not text.strip():
        return None
    try:
        return json_value(text)
    except ValueError as failure:
        found.append(flaw(part.at, "embedded_json", key=part.path[-1], failure=failure))
        return None
