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
* folders of these that somebody renamed, and other copies of one machine's files, by the name
  of the machine that they hold (``owners``);
* copies of single hosts by hand: ``hosts/HOST/``, ``nodes/HOST/``;
* readings by hand: names with ``_before`` and ``_after``, ``_t0`` and ``_t1``, or a time.
"""

import os
import re
from calendar import timegm
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_HOSTS = re.compile(
    r"(?:^|/)(?:"
    r"sosreport-(?P<sos>[A-Za-z][\w.]*(?:-[A-Za-z][\w.]*)*)[^/]*/"
    r"|sonic_dump_(?P<sonic>[\w.-]{1,80}?)_\d{8}_\d{6}[^/]*/"
    r"|cl_support__?(?P<cumulus>[\w.-]{1,80}?)_\d{8}[_-]\d{6}[^/]*/"
    r"|(?:hosts|nodes)/(?P<node>[\w.-]+)/"
    r"|diagnostics/(?P<netop>[\w.-]{1,120}?)-(?:lsmod|ibstat|ibv_devinfo|mst_status|"
    r"kernel_version|dmesg|ip_link|ip_addr)\.txt$)"
)
_RANK = re.compile(r"(?:^|[_./-])rank[_.-]?(?P<rank>\d{1,5})(?=[_./-]|$)")
"""A file of one rank, as programs name them."""
_COMMAND = re.compile(
    r"(?:^|/)(?:sos_commands/[^/]+/|commands/)?(?P<name>[^/]+?)(?:\.(?:txt|log|out))?$"
)
_SAMPLE = re.compile(r"(?:^|/)sample_(?P<number>\d{1,3})_at_(?P<at>\d{1,12})/")
_COUNTED = re.compile(
    r"(?:^|/)dump/[\w.-]{1,80}\.counters(?:\.[\w.-]{1,80})?[_.](?P<number>\d{1,2})$"
)
_MOMENT = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?P<word>before|after|pre|post|start|end|first|second|earlier|later|t[0-9]|"
    r"[1-9](?:st|nd|rd|th)|[0-9]{1,4}(?:s|sec|min)|"
    r"(?:sample|reading|day|week|hour|minute)_?[0-9]{1,3})"
    r"|(?P<date>20\d\d[-_.]?(?:0\d|1[0-2])[-_.]?[0-3]\d)(?:[-_.T ]?(?P<hour>[0-2]\d)"
    r"[-_.:]?(?P<minute>[0-5]\d)(?:[-_.:]?(?P<second>[0-5]\d))?Z?)?"
    r"|(?P<epoch>1[6-9]\d{8})"
    r"|(?P<clock>[0-2]\d[-_:]?[0-5]\d(?:[-_:]?[0-5]\d)?)(?=(?:\.[a-z]{2,4})?$)"
    r")(?![A-Za-z0-9])",
    re.IGNORECASE,
)
"""What tells one reading of counters from the next in the name of a file."""
_WORDS = {
    "before": 0, "pre": 0, "start": 0, "first": 0, "earlier": 0,
    "after": 1, "post": 1, "end": 1, "second": 1, "later": 1,
}  # fmt: skip
_MOMENTS = re.compile(r"@(?:[_.-]@)+")
_KERNEL_FILE = re.compile(
    r"(?:^|/)(?P<path>sys/(?:class/(?:infiniband|net)|devices|bus/pci)/[\w/.:@-]{3,200})$"
)


_BESIDE_ETC = frozenset(
    {"dump", "Support", "sos_commands", "sos_reports", "proc", "sys", "var", "log", "run"}
)
"""What stands beside a copy of ``/etc`` where a whole machine was dumped."""
_HOST_NAME = re.compile(r"\A\s*(?P<host>[A-Za-z0-9][\w.-]{0,79})\s*\Z")
_SONIC_NAME = re.compile(
    r'"DEVICE_METADATA"\s{0,20}:\s{0,20}\{\s{0,20}"localhost"\s{0,20}:\s{0,20}\{[^{}]{0,4000}'
    r'"hostname"\s{0,20}:\s{0,20}"(?P<host>[A-Za-z0-9][\w.-]{0,79})"'
)
_SAYS_ITS_NAME = (("etc/hostname", _HOST_NAME), ("etc/sonic/config_db.json", _SONIC_NAME))
_MOST_FOLDERS = 20_000
_MOST_NAME_BYTES = 1 << 20
_DEEPEST_OWNER = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What is known of a text before it is read; ``before`` is what its name says as text."""

    host: str = ""
    rank: str = ""
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
    host, rank = _HOSTS.search(name), _RANK.search(name)
    sample, counted = _SAMPLE.search(name), _COUNTED.search(name)
    kernel = _KERNEL_FILE.search(name)
    number = sample or counted
    moment = None if number else _MOMENT.search(name.rpartition("/")[2])
    order, at_s = _order(moment) if moment else (None, None)
    if number:
        order, at_s = int(number["number"]), float(sample["at"]) if sample else None
    return Place(
        host=next(filter(None, host.groups()), "") if host else "",
        rank=rank["rank"] if rank else "",
        command=_command(series(name)),
        sample=order,
        sampled_s=at_s,
        before=f"/{kernel['path']}:".encode() if kernel else b"",
    )


def owners(root: Path) -> dict[str, str]:
    """Return the folders below one that are dumps of a machine, each with the machine's name.

    A folder is one whatever it is called where it holds a copy of ``/etc`` with the machine's
    name beside what else such dumps hold. Links are not followed.
    """
    found: dict[str, str] = {}
    for seen, (where, folders, _) in enumerate(os.walk(root)):
        at = Path(where)
        within = at.relative_to(root).as_posix().removeprefix(".")
        if "etc" in folders and _BESIDE_ETC & set(folders):
            host = _named(at)
            if host:
                found[f"{within}/" if within else ""] = host
        if seen >= _MOST_FOLDERS:
            break
        if within.count("/") + 1 >= _DEEPEST_OWNER:
            folders.clear()
    return found


def owner(name: str, known: Mapping[str, str]) -> str:
    """Return the machine that a file was copied from, by the innermost dump that it is in.

    >>> owner("a/b/log/syslog", {"": "x", "a/b/": "leaf1"}), owner("c/log", {"a/b/": "leaf1"})
    ('leaf1', '')
    """
    folder = name
    while known and folder:
        folder = folder[: folder.rstrip("/").rfind("/") + 1]
        if folder in known:
            return known[folder]
    return ""


def _named(folder: Path) -> str:
    """Return the name of the machine whose files a folder holds a copy of."""
    for name, expression in _SAYS_ITS_NAME:
        path = folder / name
        if path.is_file() and path.resolve() == folder.resolve() / name:
            try:
                with path.open("rb") as stream:
                    text = stream.read(_MOST_NAME_BYTES).decode(errors="replace")
            except OSError:
                continue
            said = expression.search(text)
            if said:
                return said["host"]
    return ""


@lru_cache(maxsize=4096)
def series(name: str) -> str:
    """Return a file's name without the moment it names: readings of a series share the rest.

    >>> series("a/ethtool_ens1_before.txt") == series("a/ethtool_ens1_after.txt")
    True
    >>> series("leaf1_20260105_101000.txt"), series("nccl.log")
    ('leaf1_@.txt', 'nccl.log')
    >>> series("ethtool_-S_eth6_2nd_10s_later.txt"), series("perfquery_14-20-01.txt")
    ('ethtool_-S_eth6_@.txt', 'perfquery_@.txt')
    """
    plain = _COUNTED.sub(lambda found: found[0].rstrip("0123456789") + "@", name)
    folder, _, base = _SAMPLE.sub("/@/", plain).rpartition("/")
    moment = _MOMENTS.sub("@", _MOMENT.sub("@", base))
    return f"{folder}/{moment}".lstrip("/")


def readings(name: str) -> str:
    """Return what files share that were read at the same times: a folder's, or one series.

    >>> readings("hosts/a/sample_1_at_5/ibstat") == readings("hosts/a/sample_2_at_9/perfquery")
    True
    """
    whole = series(name)
    folder, sampled, _ = whole.rpartition("/@/")
    return folder if sampled else whole


def _order(moment: "re.Match[str]") -> tuple[int, float | None]:
    """Return the place of a reading among others of its series, and its time if that is said.

    >>> _order(_MOMENT.search("x_20260105_101000.txt"))[1]
    1767607800.0
    """
    word = (moment["word"] or "").lower()
    if word:
        digits = re.search(r"\d+", word)
        return (int(digits[0]) if digits else _WORDS[word]), None
    if moment["epoch"]:
        return int(moment["epoch"]), float(moment["epoch"])
    if moment["clock"]:
        return int(re.sub(r"\D", "", moment["clock"])), None
    digits_of_day = re.sub(r"\D", "", moment["date"])
    year, month, day = int(digits_of_day[:4]), int(digits_of_day[4:6]), int(digits_of_day[6:])
    clock = (int(moment["hour"] or 0), int(moment["minute"] or 0), int(moment["second"] or 0))
    at_s = timegm((year, month, day, *clock))
    return at_s, float(at_s)


def _command(name: str) -> str:
    found = _COMMAND.search(name)
    if found is None or "_-" not in found["name"]:
        return ""
    return found["name"].replace("_", " ").split("@")[0].strip()
