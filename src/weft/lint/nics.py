"""What commands set on the NICs of a host: mlnx_qos, dcb, cma_roce_tos, ethtool, ip, sysfs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any, Final

import re2

from weft.lint import facts
from weft.lint.document import whole
from weft.lint.flaws import flaw
from weft.lint.part import F, fact
from weft.lint.shell import Command

_ECN_ENABLE: Final = re2.compile(r"/ecn/(roce_np|roce_rp)/enable/(\d)$")
_ECN_VALUE: Final = re2.compile(r"/ecn/(?:roce_np|roce_rp)/([a-z0-9_]+)$")
_PAUSES: Final = re2.compile(r"[01](,[01]){7}|.*\$.*")
_TRAFFIC_CLASS: Final = re2.compile(r"/tc/\d+/traffic_class$")
_TOS: Final = re2.compile(r"/default_roce_tos$")
_GIGABIT: Final = 1000
_PRIORITIES: Final = 8
"""Of IEEE 802.1Q."""
_CONNECTX: Final = {
    "CNP_DSCP_P1": "cnp_dscp",
    "CNP_802P_PRIO_P1": "cnp_802p_prio",
    "CNP_DSCP": "cnp_dscp",
}


def nic_facts(commands: Iterable[Command]) -> Iterator[facts.Fact]:
    """Yield what commands set on NICs; a port in a variable stands for all ports.

    A script with mlnx_qos and dcb has dcb for hosts without the former: it says the same twice.
    """
    listed = list(commands)
    twice = any(command.name == "mlnx_qos" for command in listed)
    for command in listed:
        read = _READERS.get(command.name)
        if read is not None and not (twice and command.name == "dcb"):
            yield from read(command)


def _set(kind: type[F], command: Command, /, **fields: Any) -> F:  # noqa: ANN401 - any fields
    """Return a fact of a host that a command sets; an option that is absent sets nothing."""
    return fact(kind, command, side=facts.Side.HOST, **fields)


def _ports(name: str | None) -> tuple[str, ...]:
    return (name,) if name and not name.startswith("$") else ()


def _mlnx_qos(command: Command) -> Iterator[facts.Fact]:
    ports = _ports(command.option("-i", "--interface"))
    trust = command.option("--trust")
    if trust:
        yield _set(facts.Trust, command, ports=ports, mode=trust)
    pause = command.option("--pfc", "-f")
    if pause and not _PAUSES.fullmatch(pause):
        yield flaw(command.at, "pause_flags", pause=pause)
    elif pause:
        yield _set(facts.Pause, command, ports=ports, priorities=_flags(pause))
    for given in command.options("--dscp2prio"):
        dscp, comma, priority = given.replace("set,", "").partition(",")
        if comma and "del" not in given:
            yield from _mapped(command, ports, dscp, priority)
    yield from _turns(command, ports)


def _dcb(command: Command) -> Iterator[facts.Fact]:
    """Read ``dcb pfc set`` and ``dcb app add`` of iproute2: NICs without mlnx_qos."""
    ports = _ports(command.option("dev"))
    if command.words[1:2] == ("pfc",):
        pausing = _pairs(command, "prio-pfc")
        if pausing:
            yield _set(facts.Pause, command, ports=ports, priorities=_paused(pausing))
    elif command.words[1:3] in {("app", "add"), ("app", "replace")}:
        marked = _pairs(command, "dscp-prio")
        if marked:  # drivers trust DSCP from the first such entry (mlx5e_dcbnl_ieee_setapp)
            yield _set(facts.Trust, command, ports=ports, mode="dscp")
        for dscp, priority in marked.items():
            yield from _mapped(command, ports, dscp, priority)


def _mapped(
    command: Command, ports: tuple[str, ...], dscp: str, priority: str
) -> Iterator[facts.Mapped]:
    given = {"kind": facts.Map.DSCP_TO_CLASS, "source": whole(dscp), "target": whole(priority)}
    if None not in given.values():
        yield _set(facts.Mapped, command, ports=ports, **given)


def _pairs(command: Command, name: str) -> dict[str, str]:
    """Return the ``KEY:VALUE`` words behind a name, as ``all:off 3:on``."""
    if name not in command.words:
        return {}
    behind = command.words[command.words.index(name) + 1 :]
    pairs = takewhile(lambda word: ":" in word, behind)
    return {key: value for key, _, value in (word.partition(":") for word in pairs)}


def _paused(pausing: Mapping[str, str]) -> tuple[int, ...]:
    every = pausing.get("all", "off")
    return tuple(n for n in range(_PRIORITIES) if pausing.get(str(n), every) == "on")


def _turns(command: Command, ports: tuple[str, ...]) -> Iterator[facts.Fact]:
    """Yield how the NIC's classes take turns: ets with shares, or strict."""
    kinds = (command.option("--tsa", "-s") or "").split(",")
    shares = (command.option("--tcbw", "-t") or "").split(",")
    for number, kind in enumerate(kinds):
        if kind:
            weight = whole(shares[number]) if number < len(shares) else None
            turn = {"queue": number, "strict": kind == "strict", "weight": weight}
            yield _set(facts.Scheduler, command, ports=ports, **turn)


def _flags(text: str) -> tuple[int, ...]:
    return tuple(n for n, flag in enumerate(text.split(",")) if flag.strip() == "1")


def _mark(command: Command) -> Iterator[facts.Fact]:
    value = whole(command.option("-t") or "")
    if value is not None:
        yield facts.Mark(at=command.at, traffic_class=value, tool="cma_roce_tos")


def _roce_mode(command: Command) -> Iterator[facts.Fact]:
    mode = command.option("-m")
    if mode:
        yield facts.option(command.at, "cma_roce_mode", "mode", mode)


def _echo(command: Command) -> Iterator[facts.Fact]:
    value = whole(command.words[-1]) if len(command.words) > 1 else None
    if value is None or not command.target:
        return
    enabled = _ECN_ENABLE.search(command.target)
    single = _ECN_VALUE.search(command.target)
    if enabled:
        name, priority = f"{enabled[1]}_enable", int(enabled[2])
        yield facts.Congestion(at=command.at, name=name, value=value, priority=priority)
    elif single:
        yield facts.Congestion(at=command.at, name=single[1], value=value)
    elif _TRAFFIC_CLASS.search(command.target) or _TOS.search(command.target):
        yield facts.Mark(at=command.at, traffic_class=value, tool="sysfs")
    elif command.target.startswith("/proc/sys/"):
        name = command.target.removeprefix("/proc/sys/").replace("/", ".")
        yield facts.option(command.at, "sysctl", name, str(value))


def _ethtool(command: Command) -> Iterator[facts.Fact]:
    if len(command.words) < 3:  # noqa: PLR2004 - a program, what to do, an interface
        return
    _, what, name = command.words[:3]
    if what in {"-A", "--pause"}:
        on = [command.option(name) for name in ("rx", "tx")]
        if any(on):
            yield _set(facts.LinkPause, command, ports=_ports(name), on="on" in on)
    elif what in {"-s", "--change"}:
        speed, autoneg = whole(command.option("speed") or ""), command.option("autoneg")
        gbit = speed / _GIGABIT if speed else None
        yield _set(facts.Port, command, name=name, speed_gbit=gbit, autoneg=autoneg)
    elif what == "--set-fec":
        yield _set(facts.Port, command, name=name, fec=command.option("encoding"))


def _ip(command: Command) -> Iterator[facts.Fact]:
    if command.has("route", "ro", "r") and command.has("add", "replace", "append"):
        yield _route(command)
    elif command.has("rule", "ru") and command.has("add"):
        table, goal = command.option("table", "lookup") or "", command.option("to")
        source = command.option("from")
        yield fact(facts.RouteRule, command, table=table, source=source, goal=goal)
    if not command.has("link"):
        return
    name = command.option("dev", "set") or ""
    name = command.option("dev") or ("" if name == "dev" else name)
    mtu = whole(command.option("mtu") or "")
    up = False if command.has("down") else True if command.has("up") else None
    if mtu is not None:
        yield _set(facts.Port, command, name=name, mtu_bytes=mtu, up=up)
    master = command.option("master")
    if master and master.startswith("bond"):
        yield _set(facts.Bond, command, name=master, members=(name,))


def _route(command: Command) -> facts.Route:
    following = zip(command.words, [*command.words[1:], ""], strict=True)
    prefix = next(after for word, after in following if word in {"add", "replace", "append"})
    names = {"gateway": "via", "port": "dev", "table": "table"}
    given = {name: command.option(word) for name, word in names.items()}
    return fact(facts.Route, command, prefix=prefix, **given)


def _ifconfig(command: Command) -> Iterator[facts.Fact]:
    mtu = whole(command.option("mtu") or "")
    if mtu is not None and len(command.words) > 1:
        yield _set(facts.Port, command, name=command.words[1], mtu_bytes=mtu)


def _sysctl(command: Command) -> Iterator[facts.Fact]:
    for word in command.words[1:]:
        name, equals, value = word.partition("=")
        if equals and not name.startswith("-"):
            yield facts.option(command.at, "sysctl", name.replace("/", "."), value)


def _ulimit(command: Command) -> Iterator[facts.Fact]:
    value = command.option("-l")
    redirected = command.target and value in {"1", "2"}  # ulimit -l 2>/dev/null asks
    if value and not redirected:
        yield facts.option(command.at, "ulimit", "memlock", value)


def _mlxconfig(command: Command) -> Iterator[facts.Fact]:
    for word in command.words[1:]:
        name, equals, value = word.partition("=")
        number = whole(value)
        if equals and number is not None:
            known = _CONNECTX.get(name)
            if known:
                yield facts.Congestion(at=command.at, name=known, value=number)
            yield facts.option(command.at, "mlxconfig", name, value)


def _modprobe(command: Command) -> Iterator[facts.Fact]:
    what = "remove" if command.has("-r") else "load"
    for word in command.words[1:]:
        if not word.startswith("-"):
            yield facts.option(command.at, "modules", word.replace("-", "_"), what)


def _setpci(command: Command) -> Iterator[facts.Fact]:
    for word in command.words[1:]:
        if "ECAP_ACS" in word.upper() and "=" in word:
            yield facts.option(command.at, "acs", "control", word.partition("=")[2])


def _for(command: Command) -> Iterator[facts.Fact]:
    """Read ``for device in mlx5_0 mlx5_1``: what is set up, one after another."""
    words = [word.rstrip(";") for word in command.words[3:]]
    names = [word for word in words if word and word != "do"]
    if command.words[2:3] == ("in",) and len(names) > 1 and "$" not in "".join(names):
        yield facts.option(command.at, "rdma-devices", "loop", " ".join(names))


_READERS: Final[dict[str, Callable[[Command], Iterator[facts.Fact]]]] = {
    "for": _for,
    "mlnx_qos": _mlnx_qos,
    "dcb": _dcb,
    "cma_roce_tos": _mark,
    "cma_roce_mode": _roce_mode,
    "echo": _echo,
    "ethtool": _ethtool,
    "ip": _ip,
    "ifconfig": _ifconfig,
    "sysctl": _sysctl,
    "ulimit": _ulimit,
    "mlxconfig": _mlxconfig,
    "modprobe": _modprobe,
    "rmmod": _modprobe,
    "setpci": _setpci,
}
