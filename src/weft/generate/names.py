"""Lists of names; and which text may enter a configuration.

A name or value that reaches a file is checked against what is allowed, never escaped: so no
input can add a line, a comment or a command to a configuration.
"""

import re
from collections.abc import Mapping
from typing import Final

from weft.errors import SpecError
from weft.network.naming import digits, host

_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
_ALLOWED: Final[Mapping[str, tuple[str, str]]] = {
    "label": (_LABEL, "give letters, digits and . _ - (at most 63)"),
    "variable": (r"(?:NCCL|FI|RCCL)_[A-Z0-9_]{1,80}", "a name as NCCL_IB_HCA, in capitals"),
    "setting": (
        r"[A-Za-z0-9_.,:=^+/@%-]{1,400}", "letters, digits and . , : = ^ + / @ % - only"),
    "namespace": (
        r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?",
        "give lower-case letters, digits and - (at most 63)"),
    "image": (
        r"[a-z0-9][A-Za-z0-9._:/@-]{0,254}",
        "give registry/name:tag or registry/name@sha256:..."),
    "interface": (
        r"[A-Za-z][A-Za-z0-9._-]{0,14}", "a name of at most 15 letters, digits and . _ -"),
    "pci_address": (
        r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]",
        "write it as lspci -D does, 0000:1a:00.0"),
    "script": (
        r"[A-Za-z0-9_./][A-Za-z0-9_./=:,+@ -]{0,399}",
        "letters, digits, spaces and . _ / = : , + @ - only"),
    "version": (r"\d{1,3}(?:\.\d{1,3}){1,3}", "numbers with dots, as 2.27.3"),
}  # fmt: skip
"""What each kind of text may hold, and how a refusal says so."""


def checked(kind: str, text: str, what: str) -> str:
    r"""Return a text of a kind that is safe in every file that weft writes, or refuse it.

    >>> checked("label", "hgx-h100", "cluster name")
    'hgx-h100'
    >>> checked("label", "a\nb", "cluster name")
    Traceback (most recent call last):
    weft.errors.SpecError: cluster name 'a\nb': give letters, digits and . _ - (at most 63)
    """
    pattern, allowed = _ALLOWED[kind]
    if re.fullmatch(pattern, text) is None:
        raise SpecError(f"{what} {text[:60]!r}: {allowed}")
    return text


def version(text: str) -> tuple[int, ...]:
    """Read a version of NCCL.

    >>> version("2.27.3")
    (2, 27, 3)
    """
    return tuple(int(part) for part in checked("version", text, "nccl.version").split("."))


def dns_label(text: str) -> str:
    """Return a name as Kubernetes wants it.

    >>> dns_label("HGX_h100.east")
    'hgx-h100-east'
    """
    return re.sub(r"[^a-z0-9]+", "-", checked("label", text, "cluster name").lower()).strip("-")


def hosts_list(first: int, stop: int, hosts: int) -> str:
    """Return a range of hosts as Slurm writes it.

    >>> hosts_list(0, 32, 1024), hosts_list(3, 4, 8)
    ('host-[0000-0031]', 'host-0003')
    """
    if stop - first == 1:
        return host(first, hosts)
    width = digits(hosts)
    return f"host-[{first:0{width}d}-{stop - 1:0{width}d}]"


def hosts_range(hosts: int) -> str:
    """Return all hosts as an inventory of Ansible writes them.

    >>> hosts_range(1024), hosts_range(1)
    ('host-[0000:1023]', 'host-0000')
    """
    if hosts == 1:
        return host(0, hosts)
    width = digits(hosts)
    return f"host-[{0:0{width}d}:{hosts - 1:0{width}d}]"
