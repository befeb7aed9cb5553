"""The ranks try to meet over an interface that does not lead to the other hosts.

What it checks: the interface of the bootstrap (docker, loopback, bridges of containers), and
failures to find any interface at all.
Why it matters: the job hangs or is refused before it has begun.
What to do: name the interface that leads to the others in NCCL_SOCKET_IFNAME (and for MPI in
btl_tcp_if_include).
References: NCCL user guide, NCCL_SOCKET_IFNAME.
"""

import errno
import re
from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import (
    Facts,
    Finding,
    Rule,
    Severity,
    Suspect,
    Symptom,
    finding,
    suspect,
    suspected,
)
from weft.observe.facts.communicators import CommunicatorRank
from weft.observe.facts.hosts import NameResolved
from weft.observe.facts.interfaces import Interface
from weft.observe.facts.programs import Command, Setting
from weft.observe.facts.transports import AdapterChosen, BootstrapInterface, NoSocketInterface
from weft.observe.facts.verbs import CallFailed

_OF_HOST = (
    r"docker|br-|virbr|veth|lxc|lxdbr|cni|flannel|cali|cilium|weave|kube-|podman|vmnet|"
    r"nodelocaldns|tailscale|zt[a-z0-9]|wg\d|tun\d|usb\d"
)
"""Interfaces of a host's containers and guests, its private tunnels, and its controller."""
_BRIDGE = re.compile(rf"({_OF_HOST}|lo$|lo\d*$)")
OF_EACH_HOST = re.compile(
    r"(?:^|\D)(172\.17\.\d+\.\d+|172\.(?:1[89]|2\d|3[01])\.0\.1(?!\d)|"
    r"192\.168\.122\.\d+|127\.\d+\.\d+\.\d+|169\.254\.\d+\.\d+)|"
    rf"%(?:{_OF_HOST})"
)
"""What Docker gives its bridges (172.17.0.0/16 and on), and libvirt its own (192.168.122.0/24),
and addresses that every host gives itself [Docker, default address pools; libvirt, networking].
"""
_NO_PAIR = (
    r"unable to find reachable pairing between local and remote interfaces|"
    r"\bcannot find a corresponding process\b|recv_connect_ack\] received unexpected process"
)
"""The last two: what answers at an address is not the peer, as bridges with one address do
[Open MPI FAQ, TCP]."""
_LINK_LOCAL = "fe80"
_DOTTED = re.compile(r"(?!127\.)\d{1,3}(?:\.\d{1,3}){3}")
_NAMED = re.compile(
    r"(?:--master[_-]addr|--rdzv[_-]endpoint|--init[_-]method|MASTER_ADDR|--dist-init-addr)[= ]"
    r"(?:tcp://)?(?P<address>\d{1,3}(?:\.\d{1,3}){3})"
)
_ADVICE = "set NCCL_SOCKET_IFNAME to the interface that leads to the other hosts"
_LOOK = "ip -br addr; ip route get <address of the other host>; echo $NCCL_SOCKET_IFNAME"


_LOOK_GLOO = "getent hosts $(hostname); ip -br addr; echo $GLOO_SOCKET_IFNAME   # every host"
_OF_MESH = (
    Suspect(
        cause="bootstrap-wrong-interface",
        confidence_ratio=0.45,
        question="does every host's name resolve to an address that the others reach?",
        next_command=_LOOK_GLOO,
    ),
    suspect("host-firewall", 0.3),
    suspect("peer-process-died", 0.2),
)


def _check(facts: Facts) -> Iterator[Finding]:
    named = job.settings(facts, "NCCL_SOCKET_IFNAME")
    none = facts.of(NoSocketInterface)
    family = job.said(
        facts,
        r"socket creation failed ?: address family not supported|"
        r"no device found (matching|after excluding) .*verify NCCL_OOB",
    )
    if none or family:
        yield finding(
            "bootstrap-wrong-interface",
            [*none, *family, *named],
            0.85 if named else 0.7 if none else 0.6,
            message="no interface fits to meet the other ranks"
            + (f": NCCL_SOCKET_IFNAME={named[0].value} names none" if named else ""),
            advice=_ADVICE,
            next_command=_LOOK,
            missing=() if named else ("the interfaces of the host (ip -br addr)",),
            explains=(Symptom.CONNECT, Symptom.WATCHDOG),
            suspects=(suspect("nccl-env-misuse", 0.15),)
            if named
            else (suspect("nccl-env-misuse", 0.3),)
            if family
            else (),
        )
    if not job.on_one_host(facts):
        found = (
            list(_bridges(facts))
            or list(_same(facts))
            or list(_apart(facts))
            or list(_unpaired(facts))
            or list(_everywhere(facts))
            or list(_alike(facts))
            or list(_beside_the_master(facts))
        )
        yield from found
    yield from _mesh(facts)
    yield from _at_own_loopback(facts)


def _mesh(facts: Facts) -> Iterator[Finding]:
    """Find a mesh of Gloo that was not made: with the reason, or without any."""
    failed = [one for one in facts.of(CallFailed) if one.library == "Gloo"]
    loopback = job.said(facts, r"unable to resolve hostname to a \(local\) address")
    if failed and loopback:
        yield finding(
            "bootstrap-wrong-interface",
            [*loopback, *failed],
            0.8,
            message="a host cannot resolve its own name, so its ranks offer the loopback",
            advice="set GLOO_SOCKET_IFNAME, or give the host's name its address",
            next_command=_LOOK_GLOO,
            explains=(Symptom.CONNECT, Symptom.WATCHDOG),
        )
    elif failed and all(one.call == "connectFullMesh" for one in failed):
        yield suspected(
            _OF_MESH,
            failed,
            symptom=Symptom.CONNECT,
            message="the ranks could not join one another over Gloo",
            advice="set GLOO_SOCKET_IFNAME to the interface that leads to the others",
        )


def _at_own_loopback(facts: Facts) -> Iterator[Finding]:
    """Find a host that takes the name of another, which it could not reach, for its own."""
    own = {one.name: one for one in facts.of(NameResolved) if one.host != one.name}
    failed = [
        one for one in facts.of(CallFailed)
        if _connects(one) and one.peer.partition(":")[0].strip("[]") in own
    ]  # fmt: skip
    if failed:
        names = {one.peer.partition(":")[0].strip("[]") for one in failed}
        elsewhere = any(own[name].host for name in names)  # else it may be its own host's list
        yield finding(
            "bootstrap-wrong-interface",
            [*(own[name] for name in sorted(names)), *failed],
            0.8 if elsewhere else 0.5,
            severity=Severity.ERROR if elsewhere else Severity.WARNING,
            message=f"{', '.join(sorted(names))} resolves to a loopback address, which no "
            "other host is behind",
            advice="give the name the address that the others reach (/etc/hosts, DNS), or "
            "name the address itself in MASTER_ADDR",
            next_command=_LOOK_GLOO,
            explains=(Symptom.CONNECT, Symptom.WATCHDOG),
        )


def _alike(facts: Facts) -> Iterator[Finding]:
    """Find nodes that a program counts as several and that offer one address between them."""
    alike = job.said(facts, r"every node should have a unique ip address")
    if alike:
        yield finding(
            "bootstrap-wrong-interface",
            alike,
            0.65,
            message="several nodes offer one address, as of a bridge that every host has",
            advice="give each node the address that the others reach (VLLM_HOST_IP), or start "
            "the containers with the host's network",
            next_command="hostname -I; ip -br addr   # on every node",
            explains=(Symptom.CONNECT,),
            suspects=(suspect("k8s-ipam-duplicate-address", 0.25),),
        )


def _apart(facts: Facts) -> Iterator[Finding]:
    """Find ranks that offer interfaces of other names and other networks, and did not meet."""
    offered = _unproven(facts)
    networks = {(one.interface, _network(one.address)) for one in offered if one.address}
    apart = len({name for name, _ in networks}) > 1 and len({net for _, net in networks}) > 1
    failed = [one for one in facts.of(CallFailed) if _connects(one) and _lost(one)]
    if apart and failed and all("." in one.address for one in offered):
        names = ", ".join(sorted({name for name, _ in networks}))
        yield finding(
            "bootstrap-wrong-interface",
            [*offered, *failed],
            0.65,
            message=f"the ranks meet over interfaces of different networks: {names}",
            advice=_ADVICE,
            next_command=_LOOK,
            explains=(Symptom.CONNECT, Symptom.WATCHDOG),
        )


def _unpaired(facts: Facts) -> Iterator[Finding]:
    """Find a transport of MPI whose interfaces lead to none of the other host's."""
    unpaired = job.said(facts, _NO_PAIR)
    if unpaired and not job.worked_after(facts, unpaired):
        yield finding(
            "bootstrap-wrong-interface",
            unpaired,
            0.65,
            message="no interface of one host leads to an interface of the other",
            advice="name the network that joins the hosts in btl_tcp_if_include",
            next_command=_LOOK,
            explains=(Symptom.CONNECT, "mpi-ucx-not-nccl"),
        )


def _everywhere(facts: Facts) -> Iterator[Finding]:
    """Find a transport of MPI that tries peers at addresses of networks without a way there.

    It takes every interface of a host for one that leads to the others, public ones too; a
    filter would be met on the one network that joins them.
    """
    failed = [
        one for one in facts.of(CallFailed)
        if one.library == "MPI" and one.peer and _connects(one)
        and one.errno in {errno.EHOSTUNREACH, errno.ENETUNREACH}
    ]  # fmt: skip
    networks = {_network(one.peer) for one in failed}
    if len(networks) > 1 and not job.worked_after(facts, failed):
        yield finding(
            "bootstrap-wrong-interface",
            failed,
            0.65,
            message="MPI tries its peers on several networks, and no way leads to them",
            advice="name the one network that joins the hosts in btl_tcp_if_include and "
            "oob_tcp_if_include",
            next_command=_LOOK,
            explains=(Symptom.CONNECT, "mpi-ucx-not-nccl"),
            suspects=(_FILTER,),
        )


_FILTER = suspect(
    "host-firewall",
    0.3,
    question="do the hosts refuse TCP on the network that joins them, too?",
)


def _at_bridge(failed: CallFailed, own: set[str]) -> bool:
    """Return whether a peer was sought at an address that a host keeps for itself."""
    text = failed.peer or failed.evidence.text
    return bool(OF_EACH_HOST.search(text)) or failed.peer.partition("<")[0] in own


def _unproven(facts: Facts) -> list[BootstrapInterface]:
    """Leave out where ranks met and made a communicator: it led to all that they sought."""
    made = {
        (one.process.host, one.process.pid) for one in facts.of(CommunicatorRank)
        if one.complete and one.ranks > 1
    }  # fmt: skip
    return [
        one for one in facts.of(BootstrapInterface)
        if one.process.pid is None or (one.process.host, one.process.pid) not in made
    ]  # fmt: skip


def _bridges(facts: Facts) -> Iterator[Finding]:
    bridges: list[BootstrapInterface | AdapterChosen] = [
        one for one in _unproven(facts) if _BRIDGE.match(one.interface)
    ]
    bridges += _sockets_over_bridges(facts)
    own = {
        address.partition("/")[0] for one in facts.of(Interface)
        if _BRIDGE.match(one.interface) for address in one.addresses
    }  # fmt: skip
    failed = [
        one for one in facts.of(CallFailed)
        if not one.call.startswith(("ibv", "wrap_ibv"))
        and (_at_bridge(one, own) or bridges)
    ]  # fmt: skip
    failed = [
        one for one in failed
        if _connects(one) or (one.peer and OF_EACH_HOST.search(one.peer))
    ]  # fmt: skip
    if not failed and not (bridges and (job.hosts(facts) or 0) > 1):
        return
    yield finding(
        "bootstrap-wrong-interface",
        [*bridges, *failed],
        0.8 if failed else 0.6,
        severity=Severity.ERROR if failed else Severity.WARNING,
        message="the ranks meet over "
        + (_name(bridges[0]) if bridges else "an address of a container bridge")
        + ", which other hosts cannot reach",
        advice=_ADVICE,
        next_command=_LOOK,
        explains=(
            Symptom.CONNECT,
            Symptom.WATCHDOG,
            "peer-process-died",
            "mpi-ucx-not-nccl",
        ),
        suspects=(
            *((suspect("mpi-ucx-not-nccl", 0.3),) if _all_of_ucx(failed) else ()),
            suspect("host-routing-ambiguous", 0.2),
        ),
    )


def _beside_the_master(facts: Facts) -> Iterator[Finding]:
    """Find ranks that meet over another network than the one on which their master is named.

    Whoever starts a job names an address that all can reach; the library takes the first
    interface that it finds.
    """
    failed = [one for one in facts.of(CallFailed) if _connects(one)]
    if job.worked_after(facts, failed, CommunicatorRank):
        return
    said: list[Command | Setting] = [*facts.of(Command), *facts.of(Setting)]
    masters = {address: one for one in said if (address := _master(one))}
    met = [one for one in _unproven(facts) if _DOTTED.fullmatch(one.address)]
    apart = [
        one for one in met
        if all(_network(one.address) != _network(master) for master in masters)
    ]  # fmt: skip
    if failed and masters and apart and apart == met:
        address = next(iter(masters))
        known = any(
            one.interface and any(_network(own) == _network(address) for own in one.addresses)
            for one in facts.of(Interface)
        )
        yield finding(
            "bootstrap-wrong-interface",
            [*masters.values(), *apart, *failed],
            0.65 if known else 0.5,
            message=f"the ranks meet over {apart[0].interface} ({apart[0].address}), their "
            f"master is named on another network ({address})",
            advice=_ADVICE,
            next_command=_LOOK,
            explains=(Symptom.CONNECT, Symptom.WATCHDOG, "peer-process-died"),
            suspects=(suspect("host-firewall", 0.2),),
        )


def _master(said: Command | Setting) -> str:
    """Return the address of the master that a command or variable names."""
    if isinstance(said, Setting):
        return (
            said.value if said.name == "MASTER_ADDR" and _DOTTED.fullmatch(said.value) else ""
        )
    found = _NAMED.search(said.command)
    return found["address"] if found and not found["address"].startswith("127.") else ""


def _all_of_ucx(failed: list[CallFailed]) -> bool:
    """Return whether it is UCX alone that took the wrong way, as it does under MPI."""
    return bool(failed) and all(one.library == "UCX" for one in failed)


def _same(facts: Facts) -> Iterator[Finding]:
    """Find ranks of several hosts that offer one address, of those each host gives itself."""
    owners: dict[str, dict[str, BootstrapInterface]] = {}
    for one in facts.of(BootstrapInterface):
        if one.process.host and OF_EACH_HOST.match(one.address):
            owners.setdefault(one.address, {})[one.process.host] = one
    for address, hosts in owners.items():
        if max(map(len, job.companies(facts, hosts))) > 1:  # else each has a job of its own
            yield finding(
                "bootstrap-wrong-interface",
                list(hosts.values()),
                0.8,
                message=f"ranks on several hosts offer one address, {address}: that of a "
                "container behind each host's own bridge",
                advice="start the containers with the host's network (docker run --net=host)",
                next_command=_LOOK,
                explains=(Symptom.CONNECT, Symptom.WATCHDOG),
            )


def _sockets_over_bridges(facts: Facts) -> list[AdapterChosen]:
    """Return bridges over which the sockets' transport sends, where a peer lies behind one.

    Without a failure such a list is odd, not wrong: it may be one host's.
    """
    offered = [
        one for one in facts.of(AdapterChosen)
        if one.port is None and one.address and _BRIDGE.match(one.adapter)
    ]  # fmt: skip
    peers = {_network(one.peer) for one in facts.of(CallFailed) if one.peer and _lost(one)}
    return [one for one in offered if _network(one.address) in peers]


def _network(address: str) -> str:
    """Return the part of an address that all of one bridge share.

    >>> _network("172.19.0.1<44321>"), _network("fe80::5c:1%7<901>")
    ('172.19', 'fe80')
    """
    if address.lower().startswith(_LINK_LOCAL):
        return _LINK_LOCAL
    return ".".join(address.split(".")[:2])


def _lost(failed: CallFailed) -> bool:
    """Return whether a peer was not reached; one that refuses over its link was."""
    local = failed.peer.lower().startswith(_LINK_LOCAL)
    return not local or failed.errno != errno.ECONNREFUSED


def _name(one: BootstrapInterface | AdapterChosen) -> str:
    return one.interface if isinstance(one, BootstrapInterface) else one.adapter


def _connects(failed: CallFailed) -> bool:
    words = f"{failed.call} {failed.error}".lower()
    return "connect" in words or "socket" in words or "refused" in words


bootstrap_interface = Rule(causes=("bootstrap-wrong-interface",), check=_check)
