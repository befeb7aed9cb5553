"""The filter of adapters names none, or adapters the job cannot use.

What it checks: NCCL_IB_HCA (and UCX_NET_DEVICES) against the adapters the host lists;
adapters in use that are the management ports of NVLink switches, calls that end with "no such
device" on one adapter of several, and listed adapters whose address nobody configured while
pairs of different networks fail.
Why it matters: a name that fits nothing leaves sockets; an adapter without a path to the
others ends in errors or in a hang at the first collective.
What to do: list the adapters of every host and name those of the compute network.
References: NCCL user guide, NCCL_IB_HCA; UCX FAQ, UCX_NET_DEVICES; NVIDIA DGX and HGX guides.
"""

import errno
import re
from collections.abc import Iterator

from weft.doctor import job, links
from weft.doctor.rule import (
    Facts,
    Fault,
    Finding,
    Rule,
    Severity,
    Symptom,
    finding,
    suspect,
    suspected,
)
from weft.observe.facts.adapters import AdapterInterface, AdapterPort, Gid
from weft.observe.facts.base import Fact
from weft.observe.facts.benchmarks import MeasuredLatency, MeasuredTransfer
from weft.observe.facts.programs import Command, Setting
from weft.observe.facts.transports import NoRdmaDevice
from weft.observe.facts.verbs import CallFailed, CompletionError

_COMMAND = "ibv_devices; ibdev2netdev; echo $NCCL_IB_HCA   # on every host"
_ADAPTER_UNOFFERED = re.compile(
    r"network device '?[\w.-]+:\d'? is not available, please use one or more of: "
    r"(?:'?[\w.@-]+'?\(tcp\)(?:, )?)+\s*$"
)
"""UCX says so where an adapter was named and interfaces of TCP are all there is."""
_OTHERS_OFFERED = re.compile(
    r"not available, please use one or more of: .*:\d{1,2}'?\((?:ib|roce|rdma)\)", re.IGNORECASE
)
_NONE_LEFT = r"create UCP worker|ucp_worker_create|no usable transports"
"""Words of MPI and UCX where the filter has left them no adapter at all."""
_FIRST_ENTRIES = 3
"""Entries of the GID table of a port with one address; nobody looks further by itself."""
_ADVICE = "name the adapters of the compute network in NCCL_IB_HCA, as they are called here"
_PAIRED = (
    "rail-isolated", "fabric-path-unreachable", Symptom.VERBS_CALL, Symptom.TRANSPORT_RETRY,
)  # fmt: skip
_STARTS = re.compile(r"(?:mpirun|mpiexec|srun)\b.*(?:\bNCCL_|_perf\b)")
_MPI_ENDED = r"pml_ucx\S* .{0,10}error"
_BESIDE_MPI_RATIO = 0.45
"""How sure a wrong filter is where MPI itself fails: it needs no adapter to start ranks."""
_SEVERAL = 2
_OF_A_NAME = (
    suspect("hca-selection-wrong", 0.45),
    suspect("container-no-rdma-device", 0.3),
)
_IWARP = re.compile(r"i40iw|cxgb[34]_|siw\d?")
"""What drivers call adapters that have no other protocol."""
_SPLIT = re.compile(r"[,\s]+")


def chosen_by(value: str, adapter: str) -> bool:
    """Return whether a filter of NCCL_IB_HCA's kind lets an adapter through.

    >>> [chosen_by(one, "mlx5_3") for one in ("mlx5", "=mlx5", "^mlx5_3")]
    [True, False, False]
    """
    excluded = value.startswith("^")
    exact = value.lstrip("^").startswith("=")
    names = [one.partition(":")[0] for one in _SPLIT.split(value.lstrip("^=")) if one]
    hit = any(adapter == one if exact else adapter.startswith(one) for one in names)
    return hit != excluded


def _check(facts: Facts) -> Iterator[Finding]:
    filters = [*job.settings(facts, "NCCL_IB_HCA"), *job.settings(facts, "UCX_NET_DEVICES")]
    yield from _names_nothing(facts, filters)
    said = job.said(facts, r"network device .{1,60} is not available")
    nothing = [one for one in said if _ADAPTER_UNOFFERED.search(one.evidence.text)]
    if nothing and len(nothing) == len(said):
        yield _none_offered(nothing)
    elif said and _ends_mpi(facts):
        yield suspected(
            (suspect("hca-selection-wrong", _BESIDE_MPI_RATIO),),
            [*said, *filters],
            message="a filter of MPI's transport names an adapter that is not there",
            advice=_ADVICE,
        )
    elif (
        said
        and all(_OTHERS_OFFERED.search(one.evidence.text) for one in said)
        and not job.said(facts, _NONE_LEFT)
    ):
        yield _goes_without(said, filters)
    elif said:
        yield finding(
            "hca-selection-wrong",
            [*said, *filters],
            0.8,
            severity=Severity.WARNING
            if _measured(facts) or job.worked_after(facts, said)
            else Severity.ERROR,
            message="a filter of adapters names one that is not there",
            advice=_ADVICE,
            next_command=_COMMAND,
            explains=(Symptom.SOCKETS, "mpi-ucx-not-nccl"),
            fault=Fault.SOCKETS,
        )
    yield from _skipped(facts)
    yield from _of_another_sort(facts)
    yield from _not_there(facts)
    yield from _cannot_be_used(facts)
    yield from _without_gids(facts)
    yield from _off_the_network(facts, filters)


def _ends_mpi(facts: Facts) -> bool:
    """Return whether MPI ended that was only to start the ranks of the collective library."""
    starts = any(_STARTS.search(one.command) for one in facts.of(Command))
    return starts and not job.began(facts) and bool(job.said(facts, _MPI_ENDED))


def _goes_without(said: list[Fact], filters: list[Setting]) -> Finding:
    """Say of a filter that it names an adapter too many, where others are offered."""
    return finding(
        "hca-selection-wrong",
        [*said, *filters],
        0.55,
        severity=Severity.WARNING,
        message="a filter of adapters names one that is not there; others are",
        advice=_ADVICE,
        next_command=_COMMAND,
        missing=("whether the filter names another as well",),
    )


def _none_offered(seen: list[Fact]) -> Finding:
    """Suspect that there is no adapter at all where one was named and plain TCP is offered."""
    return suspected(
        (
            suspect("container-no-rdma-device", 0.4),
            suspect("hca-selection-wrong", 0.35),
            suspect(
                "mpi-ucx-not-nccl",
                0.25,
                question="is it MPI's transport alone that lacks the adapter?",
            ),
        ),
        seen,
        symptom=Symptom.SOCKETS,
        message="the adapter that was asked for is not there, nor is any other",
        advice="see whether the host has the adapter, and whether the job was given it",
    )


def _skipped(facts: Facts) -> Iterator[Finding]:
    """Find adapters that NVSHMEM passes over by their names; one of another make may be."""
    absent = job.said(facts, r"not find user specified hca name")
    strange = job.said(facts, r"is not enumerated as an mlx5 device|expected hca interface")
    if not absent and len({one.evidence.text for one in strange}) < _SEVERAL:
        return
    failed = facts.any_of(NoRdmaDevice)
    yield finding(
        "hca-selection-wrong",
        [*absent, *strange, *facts.of(NoRdmaDevice)],
        0.8 if absent or failed else 0.6,
        severity=Severity.ERROR if failed else Severity.WARNING,
        message="an adapter that was named is not there"
        if absent
        else "adapters are passed over, because they are not named as NVSHMEM expects",
        advice="name the adapters as ibv_devices does (NVSHMEM_HCA_LIST, NVSHMEM_HCA_PREFIX)",
        next_command="ibv_devices; env | grep NVSHMEM",
        missing=() if failed else ("whether the transport found another adapter",),
    )


def _of_another_sort(facts: Facts) -> Iterator[Finding]:
    """Find adapters in use that speak iWARP alone, which is not the RoCE they are taken for."""
    used = job.verbs_adapters(facts)
    strange = [one for one in used if _IWARP.match(one.adapter)]
    if not strange:
        return
    failed = facts.any_of(CompletionError, CallFailed)
    yield finding(
        "hca-selection-wrong",
        [*strange, *facts.of(CompletionError)],
        0.6 if failed else 0.45,
        severity=Severity.ERROR if failed else Severity.WARNING,
        subject=strange[0].adapter,
        message=f"{strange[0].adapter} is in use and speaks iWARP, which NCCL does not",
        advice=_ADVICE,
        next_command=_COMMAND,
        explains=(Symptom.TRANSPORT_RETRY,) if failed and len(strange) < len(used) else (),
    )


def _not_there(facts: Facts) -> Iterator[Finding]:
    """Find a program that was given the name of an adapter and did not find it."""
    failed = [
        one for one in facts.of(CallFailed) if one.call == "open device" and one.adapter
    ]  # fmt: skip
    known = job.known_adapters(facts)
    if not failed or any(one.adapter in known for one in failed):
        return
    if known:
        yield finding(
            "hca-selection-wrong",
            failed,
            0.85,
            subject=failed[0].adapter,
            message=f"{failed[0].adapter} was named, and the host lists none of that name",
            advice=_ADVICE,
            next_command=_COMMAND,
        )
        return
    yield suspected(
        _OF_A_NAME,
        failed,
        severity=Severity.WARNING,
        subject=failed[0].adapter,
        message=f"{failed[0].adapter} was named, and no adapter of that name was found",
        advice=_ADVICE,
    )


def _measured(facts: Facts) -> bool:
    """Return whether a benchmark ran all the same, with the adapters that are left."""
    return facts.any_of(MeasuredLatency, MeasuredTransfer)


def _names_nothing(facts: Facts, filters: list[Setting]) -> Iterator[Finding]:
    if job.verbs_adapters(facts):
        return
    known = job.known_adapters(facts)
    first = {(one.name, one.value): one for one in reversed(filters)}  # of thousands of ranks
    for one in reversed(first.values()):
        if not one.value or one.value == "all":
            continue
        nothing: list[Fact] = [*facts.of(NoRdmaDevice), *job.uses_sockets(facts)]
        named_none = bool(known) and (
            not any(chosen_by(one.value, name) for name in known)
            or _names_other_ports(facts, one.value)
        )
        if named_none or (nothing and not known and not job.on_one_host(facts)):
            yield finding(
                "hca-selection-wrong",
                [one, *nothing, *[p for p in facts.of(AdapterPort) if named_none]],
                0.9 if named_none else 0.45,
                message=f"{one.name}={one.value} names no adapter of this host"
                if named_none
                else f"{one.name}={one.value} is set and no adapter was found",
                advice=_ADVICE,
                next_command=_COMMAND,
                missing=() if named_none else ("the adapters of the host (ibv_devices)",),
                explains=(Symptom.SOCKETS, "container-no-rdma-device") if named_none else (),
                fault=Fault.SOCKETS,
            )


def _names_other_ports(facts: Facts, value: str) -> bool:
    """Return whether a filter names ports of adapters, of which there is none."""
    wanted = {
        (name, int(port))
        for name, _, port in (one.partition(":") for one in _SPLIT.split(value.lstrip("=")))
        if port.isdigit()
    }
    there = {(one.adapter, one.port) for one in facts.of(AdapterPort) if one.port}
    there |= {(one.adapter, one.port) for one in facts.of(AdapterInterface)}
    all_named = len(wanted) == len([one for one in _SPLIT.split(value.lstrip("=")) if one])
    return bool(wanted and there and all_named) and not wanted & there


def _cannot_be_used(facts: Facts) -> Iterator[Finding]:
    """Find one adapter of several on which the queue pairs find no device to reach."""
    failed = [
        one for one in facts.of(CallFailed)
        if "modify_qp" in one.call and one.errno == errno.ENODEV and one.adapter
    ]  # fmt: skip
    bad = {one.adapter for one in failed}
    used = {one.adapter for one in job.verbs_adapters(facts)}
    if len(bad) == 1 and len(used) > 1:
        yield finding(
            "hca-selection-wrong",
            failed,
            0.45,
            subject=next(iter(bad)),
            message=f"of {len(used)} adapters only {next(iter(bad))} finds no device to reach",
            advice=f"leave it out (NCCL_IB_HCA=^{next(iter(bad))}) or repair it",
            next_command=f"show_gids {next(iter(bad))}; ibv_devinfo -d {next(iter(bad))}",
            missing=("the GID table of this adapter on both hosts",),
        )


def _without_gids(facts: Facts) -> Iterator[Finding]:
    """Find an adapter that UCX picks by itself and that has no GID at all."""
    bare = [
        one for one in facts.of(CallFailed)
        if one.library == "UCX" and "query_gid" in one.call and one.adapter
        and (one.gid_index or 0) <= _FIRST_ENTRIES
    ]  # fmt: skip
    if bare:
        names = ", ".join(dict.fromkeys(one.adapter for one in bare))
        yield finding(
            "hca-selection-wrong",
            bare,
            0.6,
            subject=names,
            message=f"{names} has no GID and is used all the same: it is of another network",
            advice="name the adapters of the compute network in UCX_NET_DEVICES",
            next_command=f"show_gids {names}; ibdev2netdev; echo $UCX_NET_DEVICES",
            missing=("the GID table of this adapter, inside the container",),
            explains=(Symptom.VERBS_CALL, "mpi-ucx-not-nccl", "gid-index-wrong"),
            suspects=(suspect("k8s-no-roce-gid", 0.4),),
        )


def _off_the_network(facts: Facts, filters: list[Setting]) -> Iterator[Finding]:
    """Find a list with ports that nobody addressed, while pairs of other subnets fail.

    Adapters are paired by their place in the list, so one that does not belong shifts the rest.
    """
    across = [
        one for one in links.pairs(facts)
        if links.subnet(one.local_gid) != links.subnet(one.remote_gid)
        and links.is_ipv4(one.local_gid) and links.is_ipv4(one.remote_gid)
    ]  # fmt: skip
    addressed: dict[tuple[str, str], list[Gid]] = {}
    for gid in facts.of(Gid):
        if links.is_ipv4(gid.gid):
            addressed.setdefault((gid.host, gid.adapter), []).append(gid)
    strange = [
        gid for table in addressed.values() for gid in table
        if all(links.is_self_assigned(one.gid) for one in table)
    ]  # fmt: skip
    for one in filters:
        named = [gid for gid in strange if chosen_by(one.value, gid.adapter)]
        if across and named and len(addressed) > len({gid.adapter for gid in strange}):
            names = ", ".join(dict.fromkeys(gid.adapter for gid in named))
            yield finding(
                "hca-selection-wrong",
                [one, *across, *named],
                0.8,
                subject=names,
                message=f"{one.name} names {names}, whose address nobody configured, and the "
                "adapters paired with one another are of different networks",
                advice=_ADVICE,
                next_command="ip -br addr; show_gids   # on every host",
                explains=_PAIRED,
            )
            return


adapter_filter = Rule(causes=("hca-selection-wrong",), check=_check)
