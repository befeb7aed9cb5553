"""What the place of a file in a support bundle says: whose it is, by which command, and when.

Layouts known, each by names that only it has:

* ``weft collect``: ``hosts/HOST/``, counters in ``sample_N_at_SECONDS/``;
* sosreport: ``sosreport-HOST-.../sos_commands/PLUGIN/COMMAND_WITH_UNDERSCORES``, and copies of
  the kernel's files below ``sys/`` and ``proc/``, whose paths are worth as much as their text;
* must-gather and ``oc adm inspect``: ``nodes/HOST/``;
* the Network Operator's report (``l8k sosreport``): ``diagnostics/HOST-COMMAND.txt``;
* ``show techsupport`` of SONiC: ``sonic_dump_HOST_DATE_TIME/dump/``, counters in
  ``WHAT.counters_1`` and ``_2``;
* ``cl-support`` of Cumulus: ``cl_support_HOST_DATE_TIME/``;
* copies of single hosts by hand: ``hosts/HOST/``, ``nodes/HOST/``.
"""

import re
from dataclasses import dataclass

_HOSTS = re.compile(
    r"(?:^|/)(?:"
    r"sosreport-(?P<sos>[A-Za-z][\w.]*(?:-[A-Za-z][\w.]*)*)[^/]*/"
    r"|sonic_dump_(?P<sonic>[\w.-]{1,80}?)_\d{8}_\d{6}[^/]*/"
    r"|cl_support_(?P<cumulus>[\w.-]{1,80}?)_\d{8}[_-]\d{6}[^/]*/"
    r"|(?:hosts|nodes)/(?P<node>[\w.-]+)/"
    r"|diagnostics/(?P<netop>[\w.-]{1,120}?)-(?:lsmod|ibstat|ibv_devinfo|mst_status|"
    r"kernel_version|dmesg|ip_link|ip_addr)\.txt$)"
)
_COMMAND = re.compile(
    r"(?:^|/)(?:sos_commands/[^/]+/|commands/)?(?P<name>[^/]+?)(?:\.(?:txt|log|out))?$"
)
_SAMPLE = re.compile(r"(?:^|/)sample_(?P<number>\d{1,3})_at_(?P<at>\d{1,12})/")
_COUNTED = re.compile(
    r"/dump/[\w.-]{1,80}\.counters(?:\.[\w.-]{1,80})?[_.](?P<number>\d{1,2})$"
)
_KERNEL_FILE = re.compile(
    r"(?:^|/)(?P<path>sys/(?:class/(?:infiniband|net)|devices|bus/pci)/[\w/.:@-]{3,200})$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What is known of a text before it is read; ``before`` is what its name says as text."""

    host: str = ""
    command: str = ""
    sample: int | None = None
    sampled_s: float | None = None
    before: bytes = b""


def placed(name: str) -> Place:
    """Return what a member's name says.

    >>> one = placed("sosreport-gpu-a/sos_commands/networking/ethtool_-S_ens1")
    >>> one.host, one.command
    ('gpu-a', 'ethtool -S ens1')
    >>> placed("sosreport-gpu-a/sys/class/infiniband/mlx5_0/ports/1/state").before
    b'/sys/class/infiniband/mlx5_0/ports/1/state:'
    """
    host = _HOSTS.search(name)
    sample, counted = _SAMPLE.search(name), _COUNTED.search(name)
    kernel = _KERNEL_FILE.search(name)
    number = sample or counted
    return Place(
        host=next(filter(None, host.groups()), "") if host else "",
        command=_command(name),
        sample=int(number["number"]) if number else None,
        sampled_s=float(sample["at"]) if sample else None,
        before=f"/{kernel['path']}:".encode() if kernel else b"",
    )


def _command(name: str) -> str:
    found = _COMMAND.search(name)
    return found["name"].replace("_", " ") if found and "_-" in found["name"] else ""
