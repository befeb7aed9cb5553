"""The ranks expose different adapters, or different networks.

What it checks: the network (of old versions: what they list) and the number of adapters by
host; NCCL_IGNORE_NET_MISMATCH, which hides the difference.
Why it matters: a rank on InfiniBand waits for ever for one on sockets; a channel on an adapter
the peer does not have never connects.
What to do: make the hosts alike (device cgroup, plug-in, driver), or name the adapters that
all have.
References: NCCL user guide, NCCL_IGNORE_NET_MISMATCH (not documented), NCCL_NET.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Severity, Suspect, Symptom, finding
from weft.observe.facts.adapters import AdapterSeen
from weft.observe.facts.base import Fact
from weft.observe.facts.communicators import ChannelPath
from weft.observe.facts.transports import (
    AdapterChosen,
    AdapterOpenFailed,
    NetworkChosen,
    NoRdmaDevice,
    PluginSeen,
)

_CROSSED = (
    r"wrong (?:socket )?type \(?(?:peer )?(?:3 != (?:expected )?4|4 != (?:expected )?3)\b"
)
"""Kinds of sockets: 3 is of the network of sockets, 4 of InfiniBand [nccl, socket.h]."""
_GOES_ON = re.compile(r"different number of devices|rail count mismatch", re.IGNORECASE)
"""What a library says that then uses as many adapters as both ends have."""
_UNOPENED = (Symptom.WATCHDOG, "container-no-rdma-device", "container-rdma-permission")


def _check(facts: Facts) -> Iterator[Finding]:
    yield from _networks(facts)
    yield from _plugins(facts)
    yield from _crossed(facts)
    yield from _adapters(facts)


def _networks(facts: Facts) -> Iterator[Finding]:
    families: dict[str, Fact] = {}
    places: dict[str, set[str]] = {}
    for one in facts.of(NetworkChosen):
        family = "Socket" if "socket" in one.network.lower() else one.network.split("_")[0]
        family = "IB" if family.startswith("IB") else family
        families.setdefault(family, one)
        places.setdefault(family, set()).add(_place(one))
    for plugin in _assigned(facts):
        family = "IB" if plugin.name.startswith("IB") else plugin.name
        families.setdefault(family, plugin)
        places.setdefault(family, set()).add(_place(plugin))
    for old, family in _listed(facts):
        families.setdefault(family, old)
        places.setdefault(family, set()).add(_place(old))
    for path, family in _joined_by(facts, places):
        families.setdefault(family, path)
        places.setdefault(family, set()).add(_place(path))
    fast = next((name for name in families if name != "Socket"), "")
    apart = places.get("Socket", set()) - places.get(fast, set())
    met = job.companies(facts, apart | places.get(fast, set()))
    apart = {one for group in met if group & places.get(fast, set()) for one in group & apart}
    if "Socket" in families and fast and apart:
        seen: list[Fact] = [families["Socket"], families[fast]]
        yield finding(
            "net-backend-mismatch",
            seen,
            0.85,
            symptom=Symptom.SOCKETS,
            message="some ranks chose RDMA and others sockets, so they cannot meet",
            advice="find why RDMA is missing on the hosts with sockets: "
            + ", ".join(sorted(apart)),
            next_command="ibstat; ls -l /dev/infiniband   # on the hosts with sockets",
            explains=(Symptom.SOCKETS, Symptom.CONNECT, Symptom.WATCHDOG),
        )


def _plugins(facts: Facts) -> Iterator[Finding]:
    """Find hosts that use a network plug-in while others found none to load."""
    seen = [one for one in facts.of(PluginSeen) if one.role == "net" and one.process.host]
    chosen = [
        one for one in facts.of(NetworkChosen)
        if one.process.host and "socket" not in one.network.lower()
    ]  # fmt: skip
    using: dict[str, Fact] = {
        one.process.host: one for one in chosen if one.network != "IB"
    } | {one.process.host: one for one in seen if one.loaded and _is_external(one)}
    without: dict[str, Fact] = {
        one.process.host: one for one in chosen if one.network == "IB"
    } | {one.process.host: one for one in seen if not one.loaded}
    without = {host: one for host, one in without.items() if host not in using}
    if using and without:
        yield finding(
            "net-backend-mismatch",
            [*using.values(), *without.values()],
            0.6,
            severity=Severity.WARNING,
            message="some hosts load a network plug-in and others have none, so their "
            "transports differ: " + ", ".join(sorted(without)),
            advice="install the same plug-in on all hosts, or none (NCCL_NET_PLUGIN=none)",
            next_command="find / -name 'libnccl-net*.so'; echo $LD_LIBRARY_PATH   # every host",
            explains=(Symptom.CONNECT, Symptom.WATCHDOG),
        )


def _crossed(facts: Facts) -> Iterator[Finding]:
    """Find a peer that connects its sockets to a listener for InfiniBand, or the reverse."""
    crossed = job.said(facts, _CROSSED)
    named = job.settings(facts, "NCCL_IB_DISABLE") + job.settings(facts, "NCCL_NET")
    if crossed and named and job.keeps_variables(facts):
        yield finding(
            "nccl-version-or-env-mismatch",
            [*crossed, *named],
            0.75,
            message="the ranks have other networks: mpirun passes no variable on by itself",
            advice="name every variable with -x, or set it in /etc/nccl.conf on all hosts",
            next_command="mpirun ... env | grep NCCL   # as each rank sees it",
            explains=(Symptom.CONNECT, Symptom.WATCHDOG),
        )
    elif crossed:
        yield finding(
            "net-backend-mismatch",
            [*crossed, *facts.of(NetworkChosen)],
            0.65,
            message="a rank with another network answered: sockets met InfiniBand",
            advice="compare the network that each rank chose, and what chooses it: "
            "NCCL_IB_DISABLE, NCCL_NET, a plug-in that only some hosts have",
            next_command="NCCL_DEBUG=INFO on every rank; grep 'Using network'",
            explains=(Symptom.CONNECT, Symptom.WATCHDOG),
            suspects=(_NOT_PASSED_ON,),
        )


_NOT_PASSED_ON = Suspect(
    cause="nccl-version-or-env-mismatch",
    confidence_ratio=0.3,
    question="does the launcher pass every variable on to all hosts (mpirun -x)?",
    next_command="env | grep NCCL   # as each rank sees it",
)


def _is_external(plugin: PluginSeen) -> bool:
    """Return whether a line tells of a library that was loaded, not of a built-in network."""
    words = plugin.evidence.text
    return "Plugin Path" in words or "Loaded net plugin" in words or "plugin IBext" in words


def _listed(facts: Facts) -> Iterator[tuple[AdapterChosen, str]]:
    """Yield the networks of old versions, which list interfaces and name no choice.

    Every version lists its sockets; they are the network of a process that found no adapter.
    """
    told = {_place(one) for one in facts.of(NetworkChosen)}
    told |= {_place(one) for one in _assigned(facts)}
    without = {one.process for one in facts.of(NoRdmaDevice) if one.process.host}
    lists = [one for one in facts.of(AdapterChosen) if _place(one) not in told]
    fast = {one.process for one in lists if one.port is not None}
    for one in lists:
        if one.port is not None:
            yield one, "IB"
        elif one.address and one.process in without - fast:
            yield one, "Socket"


def _joined_by(facts: Facts, told: Mapping[str, set[str]]) -> Iterator[tuple[ChannelPath, str]]:
    """Yield the networks of channels on hosts that name their choice in no other way."""
    known = {place for places in told.values() for place in places}
    for one in facts.of(ChannelPath):
        if one.transport == "NET" and one.process.host and one.process.host not in known:
            yield one, "IB" if one.network.startswith("IB") else one.network


def _place(one: NetworkChosen | PluginSeen | AdapterChosen | ChannelPath) -> str:
    """Return where a line was written: its host, or its file where hosts were cut off."""
    return one.process.host or one.evidence.file


def _assigned(facts: Facts) -> list[PluginSeen]:
    """Return the networks that ranks of newer versions say they were given."""
    return [
        one for one in facts.of(PluginSeen)
        if one.loaded and one.role == "net" and "Assigned" in one.evidence.text
        and one.process.host
    ]  # fmt: skip


def _adapters(facts: Facts) -> Iterator[Finding]:
    counts = {
        host: len({one.adapter for one in chosen})
        for host, chosen in job.by_host(_listed_whole(facts)).items()
    }
    ignored = job.switched_on(facts, "NCCL_IGNORE_NET_MISMATCH")
    counted = job.said(
        facts,
        r"mixed local (coll)?net device counts|"
        r"unexpected number of remote (control )?rails|"
        r"\brail count mismatch|"
        r"has a different number of devices ?=? ?\d+ as remote",
    )
    if counted:
        found = _unlike(
            [*counted, *facts.of(AdapterOpenFailed)],
            0.85,
            "the ranks count different numbers of adapters near their GPUs",
        )
        borne = all(_GOES_ON.search(one.evidence.text) for one in counted)
        yield replace(found, severity=Severity.WARNING) if borne else found
    closed = facts.of(AdapterOpenFailed)
    if ignored and closed and len(set(counts.values())) <= 1:
        yield _unlike(
            [*ignored, *closed],
            0.75,
            "a rank cannot open an adapter, and NCCL_IGNORE_NET_MISMATCH hides that others can",
        )
    if not counts:
        yield from _listed_unlike(facts)
        yield from _named_apart(facts)
    unlike = any(
        len({counts[one] for one in group}) > 1 for group in job.companies(facts, counts)
    )
    if unlike:
        words = ", ".join(f"{host}: {count}" for host, count in sorted(counts.items()))
        yield _unlike(
            [*ignored, *job.verbs_adapters(facts)],
            0.8 if ignored else 0.65,
            f"the hosts use different numbers of adapters ({words})",
        )


def _unlike(seen: Sequence[Fact], confidence_ratio: float, message: str) -> Finding:
    return finding(
        "hca-set-mismatch",
        seen,
        confidence_ratio,
        message=message,
        advice="give every host the same adapters, or name those that all have",
        next_command="ibv_devices; ls /dev/infiniband   # on every host",
        explains=_UNOPENED,
    )


def _listed_unlike(facts: Facts) -> Iterator[Finding]:
    """Compare what tools list where no log says what the ranks use."""
    listed = _listed_by_tools(facts)
    if len({len(names) for names in listed.values()}) <= 1:
        return
    words = ", ".join(f"{host}: {len(names)}" for host, names in sorted(listed.items()))
    yield finding(
        "hca-set-mismatch",
        [one for one in facts.of(AdapterSeen) if one.host in listed],
        0.55,
        severity=Severity.WARNING,
        message=f"the hosts list different numbers of adapters ({words})",
        advice="find the adapter that one host lacks, or name those that all have",
        next_command="lspci | grep -i -e mellanox -e infiniband   # on every host",
        missing=("whether these hosts are meant to be alike",),
    )


def _named_apart(facts: Facts) -> Iterator[Finding]:
    """Find a launcher's script that names another adapter for each rank of a host."""
    files: dict[str, dict[str, Fact]] = {}
    for one in job.settings(facts, "NCCL_IB_HCA"):
        files.setdefault(one.evidence.file, {}).setdefault(one.value, one)
    for named in files.values():
        if len(named) > 1 and all(_is_one_adapter(value) for value in named):
            yield replace(
                _unlike([*named.values()], 0.55, "each rank is given another adapter"),
                severity=Severity.WARNING,
                advice="give all ranks the whole list: NCCL picks the adapter near each GPU",
                missing=("whether these are ranks of one job",),
            )


def _is_one_adapter(value: str) -> bool:
    return bool(value) and not value.startswith("^") and "," not in value


def _listed_by_tools(facts: Facts) -> dict[str, set[str]]:
    """Return the adapters that tools list on hosts with several."""
    found: dict[str, set[str]] = {}
    for one in facts.of(AdapterSeen):
        if one.host and one.adapter:
            found.setdefault(one.host, set()).add(one.adapter)
    return {host: names for host, names in found.items() if len(names) > 1}


def _listed_whole(facts: Facts) -> list[AdapterChosen]:
    """Return adapters listed on one line: of lines of one each some may have been cut off."""
    return [one for one in job.verbs_adapters(facts) if one.rate_bytes_per_s is None]


adapters_differ = Rule(
    causes=("net-backend-mismatch", "hca-set-mismatch", "nccl-version-or-env-mismatch"),
    check=_check,
)
