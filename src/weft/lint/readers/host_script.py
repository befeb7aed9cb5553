"""Shell scripts of a host: what they set on its NICs, on its kernel and on its limits."""

from collections.abc import Iterator

from weft.lint.facts import Fact
from weft.lint.nics import nic_facts
from weft.lint.reader import File, Reader


def _claims(file: File) -> bool:
    return any(True for _ in nic_facts(file.commands))


def _read(file: File) -> Iterator[Fact]:
    return nic_facts(file.commands)


host_script = Reader(title="NIC and kernel settings in scripts", claims=_claims, read=_read)
