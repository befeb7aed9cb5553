"""Files of ``weft render`` for people and other tools: nothing in them is there to be checked.

Others of its files are read by the reader of their format; here is what they say of themselves.
"""

from collections.abc import Iterator

import re2

from weft.lint.facts import Fact, Meant
from weft.lint.reader import File, Reader
from weft.readers.rendered import BY_WEFT, FABRIC, UNSEEN

_FOR_OTHERS = re2.compile(r"# (?:Helm values|Ansible: inventory) of .{1,200}")
_UFM = re2.compile(r"# UFM for [^\n]{1,200}\n\nWhat the plan wants of UFM, point by point\.")


def _claims(file: File) -> bool:
    first = file.head.partition("\n")[0]
    for_others = first.endswith(BY_WEFT) and _FOR_OTHERS.match(first)
    return bool(for_others or _UFM.match(file.head) or any(True for _ in _read(file)))


def _read(file: File) -> Iterator[Fact]:
    first, _, rest = file.head.partition("\n")
    said = rest.partition("\n")[0]
    kind = said.removeprefix(FABRIC)
    if first.endswith(BY_WEFT) and said.startswith(FABRIC) and kind in UNSEEN:
        yield Meant(at=file.at(2), fabric=kind)


rendered = Reader(title="files of weft render for people and tools", claims=_claims, read=_read)
