"""Lists of names; and which text may enter a configuration.

A name or value that reaches a file is checked against what is allowed, never escaped: so no
input can add a line, a comment or a command to a configuration.
"""

import re
from typing import Final

from weft.errors import SpecError
from weft.network.naming import digits, host

_LABEL: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_VARIABLE: Final = re.compile(r"(?:NCCL|FI|RCCL)_[A-Z0-9_]{1,80}")
_SETTING: Final = re.compile(r"[A-Za-z0-9_.,:=^+/@%-]{1,400}")
_DNS_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_IMAGE: Final = re.compile(r"[a-z0-9][A-Za-z0-9._:/@-]{0,254}")
_INTERFACE: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,14}")
_PCI_ADDRESS: Final = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_SCRIPT: Final = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./=:,+@ -]{0,399}")
_VERSION: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){1,3}")


def label(text: str, what: str) -> str:
    r"""Return a name that is safe in every file that weft writes, or refuse it.

    >>> label("hgx-h100", "cluster name")
    'hgx-h100'
    >>> label("a\nb", "cluster name")
    Traceback (most recent call last):
    weft.errors.SpecError: cluster name 'a\nb': give letters, digits and . _ - (at most 63)
    """
    return _allowed(_LABEL, text, what, "give letters, digits and . _ - (at most 63)")


def variable(text: str) -> str:
    """Return the name of an environment variable, or refuse it."""
    return _allowed(_VARIABLE, text, "nccl.env", "a name as NCCL_IB_HCA, in capitals")


def setting(text: str, what: str) -> str:
    """Return the value of an environment variable, or refuse it."""
    return _allowed(_SETTING, text, what, "letters, digits and . , : = ^ + / @ % - only")


def version(text: str) -> tuple[int, ...]:
    """Read a version of NCCL.

    >>> version("2.27.3")
    (2, 27, 3)
    """
    allowed = _allowed(_VERSION, text, "nccl.version", "numbers with dots, as 2.27.3")
    return tuple(int(part) for part in allowed.split("."))


def dns_label(text: str) -> str:
    """Return a name as Kubernetes wants it.

    >>> dns_label("HGX_h100.east")
    'hgx-h100-east'
    """
    return re.sub(r"[^a-z0-9]+", "-", label(text, "cluster name").lower()).strip("-")


def namespace(text: str) -> str:
    """Return the name of a namespace, or refuse what RFC 1123 does."""
    wanted = "give lower-case letters, digits and - (at most 63)"
    return _allowed(_DNS_LABEL, text, "kubernetes.namespace", wanted)


def image(text: str, what: str) -> str:
    """Return the reference of an image, or refuse it."""
    return _allowed(_IMAGE, text, what, "give registry/name:tag or registry/name@sha256:...")


def interface(text: str) -> str:
    """Return the name of a network interface, or refuse it."""
    wanted = "a name of at most 15 letters, digits and . _ -"
    return _allowed(_INTERFACE, text, "kubernetes.interfaces", wanted)


def pci_address(text: str) -> str:
    """Return a PCI address, or refuse it.

    >>> pci_address("0000:1a:00.0")
    '0000:1a:00.0'
    """
    wanted = "write it as lspci -D does, 0000:1a:00.0"
    return _allowed(_PCI_ADDRESS, text, "kubernetes.pci_addresses", wanted)


def script(text: str) -> str:
    """Return a command line that no shell reads as more than words, or refuse it."""
    wanted = "letters, digits, spaces and . _ / = : , + @ - only"
    return _allowed(_SCRIPT, text, "kubernetes.script", wanted)


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


def _allowed(pattern: re.Pattern[str], text: str, what: str, allowed: str) -> str:
    if pattern.fullmatch(text) is None:
        raise SpecError(f"{what} {text[:60]!r}: {allowed}")
    return text
