"""Cumulus Linux: NVUE, as YAML (``nv config show``, startup.yaml) or as ``nv set`` commands."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final, Protocol

import re2

from weft.lint import facts
from weft.lint.document import Tree, whole
from weft.lint.flaws import flaw
from weft.lint.quantity import switch_bytes
from weft.lint.reader import File, Reader, of_device
from weft.lint.sections import numbers, speed_gbit
from weft.lint.text import Place, Text

_FAMILY: Final = ("address-family", "ipv4-unicast")
_COMMAND: Final = re2.compile(r"(?m)^\s*nv set \S")
_RANGE: Final = re2.compile(r"([A-Za-z]\w*?)(\d+)-(\d+)")
_TRUST: Final = {"l3": "dscp", "both": "dscp", "port": "none", "l2": "pcp"}
_MILLI: Final = 1000
_ONE_QUOTED: Final = 3
_LOSSLESS_CLASS: Final = 3
_LOSSLESS_DSCPS: Final = range(24, 32)
_CNP_DSCPS: Final = range(48, 56)
_CNP_CLASS: Final = 6


def _claims(file: File) -> bool:
    return _COMMAND.search(file.content) is not None or any(True for _ in _sets(file))


def _sets(file: File) -> Iterator[Tree]:
    """Yield what is set: under ``- set:``, or the whole where it is bare."""
    for tree in file.documents:
        if isinstance(tree.value, list):
            for one in tree.each():
                if isinstance(one["set"].value, dict):
                    yield one["set"]
        elif isinstance(tree.value, dict) and not tree["apiVersion"]:
            known = {"interface", "qos", "router", "system", "vrf"} & set(tree.value)
            if known and isinstance(tree["interface"].value, dict | None):
                keys = set(tree.value) - {"header"}
                if len(known) > 1 or keys == known:
                    yield tree


def _read(file: File) -> Iterator[facts.Fact]:
    trees = [_commands(file)] if _COMMAND.search(file.text.content) else list(_sets(file))
    for tree in trees:
        device = tree.under("system", "hostname").string() or file.text.folder
        for read in _PARTS:
            yield from of_device(device, read(tree))


def _commands(file: File) -> Tree:
    """Build the tree of ``nv set`` commands; the last word of each is the value."""
    root: dict[str, Any] = {}
    commands: list[tuple[int, list[str]]] = []
    for number, line in file.lines():
        words = _words(line.partition("#")[0])
        if words[:2] == ["nv", "set"] and len(words) > 3:  # noqa: PLR2004 - a key and a value
            commands.append((number, words[2:]))
            _store(root, *words[2:])
    return Tree(root, Text(file.name, file.text.content), _Places(commands))


def _words(command: str) -> list[str]:
    """Return the words of a command; a quoted one may hold spaces.

    >>> _words("nv set interface swp1 description 'spine-0 swp2'")[-1]
    'spine-0 swp2'
    """
    parts = command.split("'")
    if len(parts) == _ONE_QUOTED and '"' not in command and not parts[2].strip():
        return [*parts[0].split(), parts[1]]  # one quoted word at the end: nearly all are so
    quoted = len(parts) > 1 or '"' in command
    words = _WORD.findall(command) if quoted else parts[0].split()
    return [word.strip("'\"") for word in words]


def _store(root: dict[str, Any], *path: str) -> None:
    """Put the last word under the path of the others; further values of one path as keys."""
    at = below = root
    for key in path[:-1]:
        at, below = below, below.setdefault(key, {})
        if not isinstance(below, dict):
            below = at[key] = {str(below): {}}
    if below:
        below[path[-1]] = {}
    else:
        at[path[-2]] = path[-1]


_WORD: Final = re2.compile(r"""'[^']*'|"[^"]*"|\S+""")


class _Places:
    """Finds the line of the command that set a path: a part's first, a whole path's last."""

    def __init__(self, commands: list[tuple[int, list[str]]]) -> None:
        """Keep the commands until somebody asks for a place."""
        self.commands = commands

    @cached_property
    def lines(self) -> dict[tuple[str, ...], int]:
        """The lines by path."""
        found: dict[tuple[str, ...], int] = {}
        for number, words in self.commands:
            path = tuple(words)
            for length in range(1, len(path) - 1):
                found.setdefault(path[:length], number)
            found[path[:-1]] = found[path] = number
        return found

    def __call__(self, path: tuple[str, ...]) -> tuple[int, int]:
        """Return line and column of the deepest part of the path that was set."""
        lengths = range(len(path), 0, -1)
        return next((self.lines[path[:n]] for n in lengths if path[:n] in self.lines), 1), 1


def _names(key: str) -> Iterator[str]:
    """Yield the ports of ``swp1-4,swp9``."""
    for part in key.split(","):
        match = _RANGE.fullmatch(part) if "-" in part else None
        if match:
            last = min(int(match[3]), int(match[2]) + 1024)
            yield from (f"{match[1]}{n}" for n in range(int(match[2]), last + 1))
        else:
            yield part


def _keys(part: Tree) -> list[str]:
    """Return the keys of a mapping, or the one plain value."""
    if isinstance(part.value, dict):
        return list(part.value)
    return [part.string()] if part.string() else []


def _interfaces(tree: Tree) -> Iterator[facts.Fact]:
    seed = tree.under("system", "forwarding", "hash-seed")
    if seed:
        yield facts.HashSeed(at=seed.at, seed=seed.string())
    yield from _ports(tree)
    for key, one in tree["interface"].items():
        names = tuple(_names(key))
        family = one["ip"] or one["ipv4"]
        for address in _keys(family["address"]):
            if "/" in address and names:
                yield facts.Address(
                    at=family.under("address", address).at,
                    port=names[0],
                    address=address,
                    vrf=(family["vrf"] or one["vrf"]).string().replace("default", ""),
                )
        split = one.under("link", "breakout")
        ways = whole(
            next((said.rstrip("x") for said in _said(split) if said[:1].isdigit()), "")
        )
        if ways is not None:
            cages = tuple(f"{name}s" for name in names)
            yield facts.Split(at=split.at, cages=cages, ways=ways)
        members = one.under("bond", "member")
        if members:
            ports = tuple(n for m in _keys(members) for n in _names(m))
            yield facts.Bond(at=members.at, name=key, members=ports)
        quality = one["qos"]
        if quality:
            yield from _own_quality(quality, names)


def _ports(tree: Tree) -> Iterator[facts.Port]:
    """Yield each port once, with what all keys say that name it."""
    ports: dict[str, dict[str, Any]] = {}
    for key, one in tree["interface"].items():
        settings: dict[str, Any] | None = None
        for name in _names(key):
            if name.startswith(("swp", "bond")):
                settings = _settings(one) if settings is None else settings
                ports.setdefault(name, {"at": one.at}).update(settings)
    for name, given in ports.items():
        yield facts.Port(name=name, **given)


def _settings(one: Tree) -> dict[str, Any]:
    """Return what one key sets of a port; its place is that of the MTU."""
    link = one["link"]
    if not link and not one["description"]:
        return {}
    mtu, state = link["mtu"], _keys(link["state"])
    peer = (one["description"] or link["description"]).string().strip("'\"").split()
    two = len(peer) == 2  # noqa: PLR2004 - a peer and its port
    settings = {
        "at": mtu.at if mtu.number() else None,
        "mtu_bytes": mtu.number(),
        "speed_gbit": speed_gbit(link["speed"].string()),
        "fec": link["fec"].string(),
        "autoneg": link["auto-negotiate"].string(),
        "peer": peer[0] if two else "",
        "peer_port": peer[1] if two else "",
    }
    up = {"up": state[0] == "up"} if state else {}
    return {name: value for name, value in settings.items() if value} | up


def _own_quality(quality: Tree, ports: tuple[str, ...]) -> Iterator[facts.Fact]:
    pause = quality["link-pause"]
    if pause:
        on = any(pause[way].true() for way in ("tx", "rx")) or pause["state"].true()
        on = on or pause.string() not in {"", "disable", "off"} or "tx" in _keys(pause)
        yield facts.LinkPause(at=pause.at, ports=ports, on=on)
    dog = quality["pfc-watchdog"]
    if dog:
        yield facts.Watchdog(at=dog.at, ports=ports, on=_on(dog))
    remark = quality.under("mapping", "trust")
    if remark:
        yield facts.Trust(
            at=remark.at, ports=ports, mode=_TRUST.get(remark.string(), remark.string())
        )
    pfc = quality["pfc"]
    if pfc:
        yield from _pause({"": pfc}, ports)


def _on(part: Tree) -> bool:
    state = part["state"]
    said = (state.string() or next(iter(_keys(state)), "")) if state else ""
    return (said or "enable") in {"enable", "enabled", "on", "up"}


def _quality(tree: Tree) -> Iterator[facts.Fact]:
    quality = tree["qos"]
    yield from _roce(quality)
    for name, one in quality["mapping"].items():
        yield from _mapping(one, name)
    for name, one in quality["egress-queue-mapping"].items():
        for priority, row in one["switch-priority"].items():
            target = row["traffic-class"].number()
            if target is not None:
                for source in numbers(priority):
                    yield facts.Mapped(
                        at=row.at,
                        table=name,
                        kind=facts.Map.CLASS_TO_QUEUE,
                        source=source,
                        target=target,
                    )
    yield from _pause(dict(quality["pfc"].items()), ())
    for one in quality["congestion-control"].parts():
        yield from _congestion(one)
    for one in quality["egress-scheduler"].parts():
        yield from _scheduler(one)
    yield from _watchdog(quality["pfc-watchdog"])


def _watchdog(dog: Tree) -> Iterator[facts.Fact]:
    if dog:
        poll = _ms(dog["polling-interval"].string())
        robust = dog["robustness"].number()
        yield facts.Watchdog(
            at=dog.at,
            poll_ms=poll,
            queues=None,
            on=_on(dog),
            detection_ms=poll * robust if poll and robust else None,
        )
        for one in dog.parts():
            if isinstance(one.value, dict) and one["state"]:
                yield facts.Watchdog(at=one.at, on=_on(one))


def _ms(text: str) -> float | None:
    """Read a time of NVUE: ``0:00:01`` or ``200`` milliseconds, or with a unit."""
    match = re2.fullmatch(r"(\d+)\s*(ms|s)?", text)
    if match:
        return int(match[1]) * (_MILLI if match[2] == "s" else 1)
    return None


def _roce(quality: Tree) -> Iterator[facts.Fact]:
    """Yield what ``qos roce`` sets all at once: NVIDIA's default for RoCE."""
    roce = quality["roce"]
    mode = roce["mode"].string() or roce.string() or next(iter(_keys(roce)), "")
    enable = roce["state"] or roce["enable"]
    off = (enable and not enable.true()) or mode in {"disable", "disabled"}
    if roce and quality["pfc"] and (off or mode == "lossy"):
        yield flaw(roce.at, "roce_beside_pfc", what="off" if off else "lossy")
    if not roce or off:
        return
    length = roce["cable-length"].number()
    if length is not None:
        yield facts.CableLength(at=roce["cable-length"].at, ports=(), length_m=length)
    for part, preset in _PRESETS.items():
        if not quality[part]:
            yield from preset(roce.at, lossless=mode != "lossy")


def _preset_labels(at: Place, *, lossless: bool) -> Iterator[facts.Fact]:
    del lossless  # the labels are the same
    yield facts.Trust(at=at, mode="dscp")
    pairs = [(dscp, _LOSSLESS_CLASS) for dscp in _LOSSLESS_DSCPS]
    for dscp, target in [*pairs, *((dscp, _CNP_CLASS) for dscp in _CNP_DSCPS)]:
        yield facts.Mapped(at=at, kind=facts.Map.DSCP_TO_CLASS, source=dscp, target=target)


def _preset_pause(at: Place, *, lossless: bool) -> Iterator[facts.Fact]:
    priorities = (_LOSSLESS_CLASS,) if lossless else ()
    yield facts.Pause(at=at, priorities=priorities)


def _preset_marks(at: Place, *, lossless: bool) -> Iterator[facts.Fact]:
    del lossless  # the marks are the same
    yield facts.Marking(
        at=at,
        ecn=True,
        queues=(0, _LOSSLESS_CLASS),
        kmin_bytes=150_000,
        kmax_bytes=1_500_000,
        pmax_percent=100,
    )


def _preset_turns(at: Place, *, lossless: bool) -> Iterator[facts.Fact]:
    del lossless  # the turns are the same
    yield facts.Scheduler(at=at, queue=_CNP_CLASS, strict=True)
    for queue in (0, _LOSSLESS_CLASS):
        yield facts.Scheduler(at=at, queue=queue, strict=False, weight=50)


class _Preset(Protocol):
    """What ``qos roce`` sets of one part of the quality of service."""

    def __call__(self, at: Place, *, lossless: bool) -> Iterator[facts.Fact]:
        """Yield it for a switch."""


_PRESETS: Final[dict[str, _Preset]] = {
    "mapping": _preset_labels,
    "pfc": _preset_pause,
    "congestion-control": _preset_marks,
    "egress-scheduler": _preset_turns,
}
"""By the part that, once it is set by hand, takes the place of the preset."""


def _mapping(one: Tree, name: str) -> Iterator[facts.Fact]:
    trust = one["trust"]
    if trust:
        yield facts.Trust(at=trust.at, mode=_TRUST.get(trust.string(), trust.string()))
    for key, row in one["dscp"].items():
        target = row["switch-priority"].number()
        for source in numbers(key):
            if target is not None:
                yield facts.Mapped(
                    at=row.at,
                    table=name,
                    kind=facts.Map.DSCP_TO_CLASS,
                    source=source,
                    target=target,
                )


def _pause(profiles: dict[str, Tree], ports: tuple[str, ...]) -> Iterator[facts.Fact]:
    for name, one in profiles.items():
        row = one["switch-priority"]
        if row:
            found = [n for key in _keys(row) for n in numbers(key)]
            sends = one["tx"].string() not in {"disable", "off"}
            hears = one["rx"].string() not in {"disable", "off"}
            yield facts.Pause(
                at=row.at,
                ports=ports,
                priorities=tuple(sorted(found)) if sends and hears else (),
            )
            xoff, xon = _bytes(one["xoff-threshold"]), _bytes(one["xon-threshold"])
            room = _bytes(one["port-buffer"])
            if xoff is not None or xon is not None or room is not None:
                profile = f"pfc {name}".rstrip()
                headroom = room - (xoff or 0) if room is not None else None
                yield facts.BufferProfile(
                    at=row.at,
                    name=profile,
                    size_bytes=room,
                    xon_bytes=xon,
                    xoff_bytes=headroom,
                    static_bytes=xoff,
                )
                for group in found:
                    yield facts.GroupUse(
                        at=row.at, ports=ports, group=group, profile=profile, ingress=True
                    )
        length = one["cable-length"].number()
        if length is not None:
            yield facts.CableLength(at=one["cable-length"].at, ports=ports, length_m=length)


def _bytes(part: Tree) -> int | None:
    return switch_bytes(part.string()) if part else None


def _congestion(one: Tree) -> Iterator[facts.Fact]:
    for key, row in one["traffic-class"].items():
        marks = row["ecn"]
        said = marks.string() or next(iter(_keys(marks)), "")
        queues = tuple(numbers(key))
        yield facts.Marking(
            at=row.at,
            queues=queues,
            ecn=said in {"", "enable", "enabled", "on"}
            and bool(marks or row["min-threshold-bytes"]),
            kmin_bytes=_bytes(row["min-threshold-bytes"] or row["min-threshold"]),
            kmax_bytes=_bytes(row["max-threshold-bytes"] or row["max-threshold"]),
            pmax_percent=row["probability"].number(),
        )
        for queue in queues:
            yield facts.QueueUse(at=row.at, queue=queue)


def _scheduler(one: Tree) -> Iterator[facts.Fact]:
    for key, row in one["traffic-class"].items():
        for queue in numbers(key):
            yield facts.Scheduler(
                at=row.at,
                queue=queue,
                strict=row["mode"].string() == "strict",
                weight=row["bw-percent"].number(),
            )


def _routing(tree: Tree) -> Iterator[facts.Fact]:
    whole_bgp, bgp = tree.under("router", "bgp"), tree.under("vrf", "default", "router", "bgp")
    asn = whole((bgp["autonomous-system"] or whole_bgp["autonomous-system"]).string())
    if asn is None:
        return
    for one in (whole_bgp, bgp):
        if one["state"] and not _on(one) and bgp["neighbor"]:
            yield flaw(one["state"].at, "bgp_off")
    yield _speaker(whole_bgp, bgp, asn)
    yield from _filters(tree, bgp)
    yield from _neighbors(bgp)


def _speaker(whole_bgp: Tree, bgp: Tree, asn: int) -> facts.Speaker:
    """Return who speaks BGP; the default VRF's own values stand before those of all."""
    family = bgp.under(*_FAMILY)
    relaxed = bgp.under("path-selection", "multipath", "aspath-ignore")
    return facts.Speaker(
        at=(bgp["autonomous-system"] or whole_bgp["autonomous-system"]).at,
        asn=asn,
        router_id=(bgp["router-id"] or whole_bgp["router-id"]).string(),
        paths=family.under("multipaths", "ebgp").number(),
        relaxed=relaxed.true() if relaxed else None,
        announces=bool(family["network"])
        or any(_on(one) for one in family["redistribute"].parts()),
    )


def _neighbors(bgp: Tree) -> Iterator[facts.Neighbor]:
    """Yield the sessions; what one does not say its peer group says."""
    family, groups = bgp.under(*_FAMILY), bgp["peer-group"]
    active = _on(family) if family["state"] else None
    for key, one in bgp["neighbor"].items():
        group = groups[one["peer-group"].string()]
        remote = one["remote-as"] or group["remote-as"]
        hop = one.under("capabilities", "extended-nexthop") or group.under(
            "capabilities", "extended-nexthop"
        )
        for peer in _names(key):
            unnumbered = one["type"].string() == "unnumbered" or peer.startswith("swp")
            yield facts.Neighbor(
                at=one.at,
                peer=peer,
                unnumbered=unnumbered,
                remote=remote.string(),
                extended_nexthop=not hop or hop.true() if unnumbered else None,
                active=active if _on(group.under(*_FAMILY)) else False,
            )


def _filters(tree: Tree, bgp: Tree) -> Iterator[facts.Fact]:
    policy, family = tree.under("router", "policy"), bgp.under("address-family", "ipv4-unicast")
    for name, one in policy["prefix-list"].items():
        for rule in one["rule"].parts():
            for prefix, match in rule["match"].items():
                yield facts.PrefixRow(
                    at=match.at,
                    name=name,
                    permit="deny" not in _said(rule["action"]),
                    prefix=prefix,
                    least=match["min-prefix-len"].number(),
                    most=match["max-prefix-len"].number(),
                )
    for name, one in policy["route-map"].items():
        for rule in one["rule"].parts():
            match = rule["match"]
            lists = _said(match["ip-prefix-list"])
            other = set(match.value or ()) - {"type", "ip-prefix-list"}
            yield facts.MapRow(
                at=rule.at,
                name=name,
                permit="deny" not in _said(rule["action"]),
                prefixes=None if other else next(iter(lists), ""),
            )
    connected = family.under("redistribute", "connected")
    if connected and _on(connected):
        name = next(iter(_said(connected["route-map"])), "")
        yield facts.Announced(at=connected.at, route_map=name)
    for prefix, one in family["aggregate-route"].items():
        yield facts.Aggregate(at=one.at, prefix=prefix)
    for group in bgp["peer-group"].parts():
        keepalive, hold = (group["timers"][name].number() for name in ("keepalive", "hold"))
        if keepalive is not None and hold is not None:
            yield facts.Timers(at=group["timers"].at, keepalive_s=keepalive, hold_s=hold)


def _said(part: Tree) -> list[str]:
    """Return the words of a setting: a value, or keys without values."""
    return [part.string()] if part.string() else _keys(part)


_PARTS: Final[tuple[Callable[[Tree], Iterator[facts.Fact]], ...]] = (
    _interfaces,
    _quality,
    _routing,
)
nvue = Reader(title="Cumulus NVUE", claims=_claims, read=_read)
