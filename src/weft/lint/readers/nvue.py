"""Cumulus Linux: NVUE, as YAML (``nv config show``, startup.yaml) or as ``nv set`` commands."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final

import re2

from weft.inventory.table import rows
from weft.lint import facts
from weft.lint.document import Tree, whole
from weft.lint.flaws import flaw
from weft.lint.part import fact
from weft.lint.quantity import switch_bytes
from weft.lint.reader import File, Reader, of_device
from weft.lint.sections import numbers, speed_gbit
from weft.lint.text import Text, deepest

_FAMILY: Final = ("address-family", "ipv4-unicast")
_COMMAND: Final = re2.compile(r"(?m)^\s*nv set \S")
_RANGE: Final = re2.compile(r"([A-Za-z]\w*?)(\d+)-(\d+)")
_TRUST: Final = {"l3": "dscp", "both": "dscp", "port": "none", "l2": "pcp"}
_MILLI: Final = 1000
_ONE_QUOTED: Final = 3


def _claims(file: File) -> bool:
    return _COMMAND.search(file.content) is not None or any(True for _ in _sets(file))


def _sets(file: File) -> Iterator[Tree]:
    """Yield what is set: under ``- set:``, or the whole where it is bare."""
    for tree in file.documents:
        if isinstance(tree.value, list):
            for item in tree.each():
                if isinstance(item["set"].value, dict):
                    yield item["set"]
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
        return deepest(path, self.lines) or 1, 1


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
    """Return the words of a setting: the keys of a mapping, or the one plain value."""
    if isinstance(part.value, dict):
        return list(part.value)
    return [part.string()] if part.string() else []


def _interfaces(tree: Tree) -> Iterator[facts.Fact]:
    seed = tree.under("system", "forwarding", "hash-seed")
    if seed:
        yield fact(facts.HashSeed, seed, seed=seed)
    yield from _ports(tree)
    for key, item in tree["interface"].items():
        names = tuple(_names(key))
        family = item["ip"] or item["ipv4"]
        vrf = (family["vrf"] or item["vrf"]).string().replace("default", "")
        for address in _keys(family["address"]):
            if "/" in address and names:
                at = family.under("address", address).at
                yield facts.Address(at=at, port=names[0], address=address, vrf=vrf)
        split = item.under("link", "breakout")
        said = (word.rstrip("x") for word in _keys(split) if word[:1].isdigit())
        ways = whole(next(said, ""))
        if ways is not None:
            cages = tuple(f"{name}s" for name in names)
            yield facts.Split(at=split.at, cages=cages, ways=ways)
        members = item.under("bond", "member")
        if members:
            ports = tuple(n for m in _keys(members) for n in _names(m))
            yield facts.Bond(at=members.at, name=key, members=ports)
        quality = item["qos"]
        if quality:
            yield from _own_quality(quality, names)


def _ports(tree: Tree) -> Iterator[facts.Port]:
    """Yield each port once, with what all keys say that name it."""
    ports: dict[str, dict[str, Any]] = {}
    for key, item in tree["interface"].items():
        settings: dict[str, Any] | None = None
        for name in _names(key):
            if name.startswith(("swp", "bond")):
                settings = _settings(item) if settings is None else settings
                ports.setdefault(name, {"at": item.at}).update(settings)
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
    yield from _trusted(quality.under("mapping", "trust"), ports)
    pfc = quality["pfc"]
    if pfc:
        yield from _pause({"": pfc}, ports)


def _trusted(trust: Tree, ports: tuple[str, ...] = ()) -> Iterator[facts.Trust]:
    if trust:
        mode = _TRUST.get(trust.string(), trust.string())
        yield facts.Trust(at=trust.at, ports=ports, mode=mode)


def _on(part: Tree) -> bool:
    state = part["state"]
    said = (state.string() or next(iter(_keys(state)), "")) if state else ""
    return (said or "enable") in {"enable", "enabled", "on", "up"}


def _all_quality(tree: Tree) -> Iterator[facts.Fact]:
    yield from _roce(tree["qos"])
    yield from _quality(tree["qos"])


def _quality(quality: Tree) -> Iterator[facts.Fact]:
    for name, tree in quality["mapping"].items():
        yield from _trusted(tree["trust"])
        dscp_to_class = facts.Map.DSCP_TO_CLASS
        yield from _mapped(tree["dscp"], "switch-priority", table=name, kind=dscp_to_class)
    for name, tree in quality["egress-queue-mapping"].items():
        rows = tree["switch-priority"]
        yield from _mapped(rows, "traffic-class", table=name, kind=facts.Map.CLASS_TO_QUEUE)
    yield from _pause(dict(quality["pfc"].items()), ())
    for part in quality["congestion-control"].parts():
        yield from _congestion(part)
    for part in quality["egress-scheduler"].parts():
        yield from _scheduler(part)
    yield from _watchdog(quality["pfc-watchdog"])


def _watchdog(dog: Tree) -> Iterator[facts.Fact]:
    if dog:
        poll = _ms(dog["polling-interval"].string())
        detection = (poll or 0) * (dog["robustness"].number() or 0) or None
        yield facts.Watchdog(at=dog.at, poll_ms=poll, on=_on(dog), detection_ms=detection)
        for part in dog.parts():
            if isinstance(part.value, dict) and part["state"]:
                yield facts.Watchdog(at=part.at, on=_on(part))


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
    yield from _lengths(roce, ())
    preset: Any = rows("weft.lint", "nvue_roce.yaml")
    for part, texts in preset["lossy" if mode == "lossy" else "lossless"].items():
        if not quality[part]:
            given = Tree({part: texts}, roce.text, lambda _: roce.locate(roce.path))
            yield from _quality(given)


def _lengths(part: Tree, ports: tuple[str, ...]) -> Iterator[facts.CableLength]:
    length = part["cable-length"]
    if length.number() is not None:
        yield fact(facts.CableLength, length, ports=ports, length_m=length)


def _mapped(rows: Tree, to: str, **given: Any) -> Iterator[facts.Mapped]:  # noqa: ANN401
    """Yield where each label of ``0,2-3: {to: 5}`` leads."""
    for key, row in rows.items():
        for source in numbers(key) if row[to].number() is not None else ():
            yield fact(facts.Mapped, row, source=source, target=row[to], **given)


def _pause(profiles: dict[str, Tree], ports: tuple[str, ...]) -> Iterator[facts.Fact]:
    for name, tree in profiles.items():
        row = tree["switch-priority"]
        if row:
            found = [n for key in _keys(row) for n in numbers(key)]
            on = all(tree[way].string() not in {"disable", "off"} for way in ("tx", "rx"))
            priorities = tuple(sorted(found)) if on else ()
            yield facts.Pause(at=row.at, ports=ports, priorities=priorities)
            xoff, xon, room = (
                _bytes(tree[part])
                for part in ("xoff-threshold", "xon-threshold", "port-buffer")
            )
            if {xoff, xon, room} != {None}:
                profile = f"pfc {name}".rstrip()
                headroom = room - (xoff or 0) if room is not None else None
                yield facts.BufferProfile(
                    at=row.at, name=profile, size_bytes=room, xon_bytes=xon,
                    xoff_bytes=headroom, static_bytes=xoff,
                )  # fmt: skip
                given = {"ports": ports, "profile": profile, "ingress": True}
                yield from (fact(facts.GroupUse, row, group=group, **given) for group in found)
        yield from _lengths(tree, ports)


def _bytes(part: Tree) -> int | None:
    return switch_bytes(part.string()) if part else None


def _congestion(one: Tree) -> Iterator[facts.Fact]:
    for key, row in one["traffic-class"].items():
        marks, queues = row["ecn"], tuple(numbers(key))
        said = next(iter(_keys(marks)), "") in {"", "enable", "enabled", "on"}
        yield fact(
            facts.Marking, row, queues=queues, pmax_percent=row["probability"],
            ecn=said and bool(marks or row["min-threshold-bytes"]),
            kmin_bytes=_bytes(row["min-threshold-bytes"] or row["min-threshold"]),
            kmax_bytes=_bytes(row["max-threshold-bytes"] or row["max-threshold"]),
        )  # fmt: skip
        for queue in queues:
            yield facts.QueueUse(at=row.at, queue=queue)


def _scheduler(one: Tree) -> Iterator[facts.Fact]:
    for key, row in one["traffic-class"].items():
        strict, weight = row["mode"].string() == "strict", row["bw-percent"]
        for queue in numbers(key):
            yield fact(facts.Scheduler, row, queue=queue, strict=strict, weight=weight)


def _routing(tree: Tree) -> Iterator[facts.Fact]:
    whole_bgp, bgp = tree.under("router", "bgp"), tree.under("vrf", "default", "router", "bgp")
    asn = whole((bgp["autonomous-system"] or whole_bgp["autonomous-system"]).string())
    if asn is None:
        return
    for item in (whole_bgp, bgp):
        if item["state"] and not _on(item) and bgp["neighbor"]:
            yield flaw(item["state"].at, "bgp_off")
    yield _speaker(whole_bgp, bgp, asn)
    yield from _filters(tree, bgp)
    yield from _neighbors(bgp)


def _speaker(whole_bgp: Tree, bgp: Tree, asn: int) -> facts.Speaker:
    """Return who speaks BGP; the default VRF's own values stand before those of all."""
    family = bgp.under(*_FAMILY)
    announces = any(_on(part) for part in family["redistribute"].parts())
    return fact(
        facts.Speaker, bgp["autonomous-system"] or whole_bgp["autonomous-system"], asn=asn,
        router_id=bgp["router-id"] or whole_bgp["router-id"],
        paths=family.under("multipaths", "ebgp"),
        relaxed=bgp.under("path-selection", "multipath", "aspath-ignore"),
        announces=bool(family["network"]) or announces,
    )  # fmt: skip


def _neighbors(bgp: Tree) -> Iterator[facts.Neighbor]:
    """Yield the sessions; what one does not say its peer group says."""
    family, groups = bgp.under(*_FAMILY), bgp["peer-group"]
    active = _on(family) if family["state"] else None
    for key, tree in bgp["neighbor"].items():
        group = groups[tree["peer-group"].string()]
        remote = tree["remote-as"] or group["remote-as"]
        own, shared = (part.under("capabilities", "extended-nexthop") for part in (tree, group))
        hop = own or shared
        for peer in _names(key):
            unnumbered = tree["type"].string() == "unnumbered" or peer.startswith("swp")
            yield facts.Neighbor(
                at=tree.at, peer=peer, unnumbered=unnumbered, remote=remote.string(),
                extended_nexthop=not hop or hop.true() if unnumbered else None,
                active=active if _on(group.under(*_FAMILY)) else False,
            )  # fmt: skip


def _filters(tree: Tree, bgp: Tree) -> Iterator[facts.Fact]:
    policy, family = tree.under("router", "policy"), bgp.under("address-family", "ipv4-unicast")
    for name, item in policy["prefix-list"].items():
        for rule in item["rule"].parts():
            permit = "deny" not in _keys(rule["action"])
            for prefix, match in rule["match"].items():
                yield fact(
                    facts.PrefixRow, match, name=name, permit=permit, prefix=prefix,
                    least=match["min-prefix-len"], most=match["max-prefix-len"],
                )  # fmt: skip
    for name, item in policy["route-map"].items():
        for rule in item["rule"].parts():
            match, permit = rule["match"], "deny" not in _keys(rule["action"])
            other = set(match.value or ()) - {"type", "ip-prefix-list"}
            prefixes = None if other else next(iter(_keys(match["ip-prefix-list"])), "")
            yield facts.MapRow(at=rule.at, name=name, permit=permit, prefixes=prefixes)
    connected = family.under("redistribute", "connected")
    if connected and _on(connected):
        name = next(iter(_keys(connected["route-map"])), "")
        yield facts.Announced(at=connected.at, route_map=name)
    for prefix, item in family["aggregate-route"].items():
        yield facts.Aggregate(at=item.at, prefix=prefix)
    for group in bgp["peer-group"].parts():
        keepalive, hold = (group["timers"][name] for name in ("keepalive", "hold"))
        if keepalive.number() is not None and hold.number() is not None:
            yield fact(facts.Timers, group["timers"], keepalive_s=keepalive, hold_s=hold)


_PARTS: Final[tuple[Callable[[Tree], Iterator[facts.Fact]], ...]] = (
    _interfaces,
    _all_quality,
    _routing,
)
nvue = Reader(title="Cumulus NVUE", claims=_claims, read=_read)
