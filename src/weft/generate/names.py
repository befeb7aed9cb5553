"""Lists of names; and which text may enter a configuration.

A name or value that reaches a file is checked against what is allowed, never escaped: so no
input can add a line, a comment or a command to a configuration.
"""

import re

from weft.errors import SpecError
from weft.network.naming import digits, host
from weft.records import table


def checked(kind: str, text: str, what: str) -> str:
    r"""Return a text of a kind that is safe in every file that weft writes, or refuse it.

    >>> checked("label", "hgx-h100", "cluster name")
    'hgx-h100'
    >>> checked("label", "a\nb", "cluster name")
    Traceback (most recent call last):
    weft.errors.SpecError: cluster name 'a\nb': give letters, digits and . _ - (at most 63)
    """
    row = table("weft.generate", "names")[kind]
    if re.fullmatch(row["pattern"], text) is None:
        raise SpecError(f"{what} {text[:60]!r}: {row['allowed']}")
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
    return _range(first, stop, hosts, "-")


def hosts_range(hosts: int) -> str:
    """Return all hosts as an inventory of Ansible writes them.

    >>> hosts_range(1024), hosts_range(1)
    ('host-[0000:1023]', 'host-0000')
    """
    return _range(0, hosts, hosts, ":")


def _range(first: int, stop: int, hosts: int, joint: str) -> str:
    if stop - first == 1:
        return host(first, hosts)
    width = digits(hosts)
    return f"host-[{first:0{width}d}{joint}{stop - 1:0{width}d}]"
