"""Ranks of one host cannot see one another's GPUs.

What it checks: GPUs that the management library does not find by bus id, handles that cannot be
imported, and ranks of one host that meet through the network because each sees one GPU; pods
of one node that do.
Why it matters: NVLink lies idle: ranks of one host fail to start or meet through adapters.
What to do: let every rank see all GPUs of the host and choose by local rank: no
--gpus-per-task binding, one container a host.
References: NVIDIA container toolkit, NVIDIA_VISIBLE_DEVICES; Slurm --gpu-bind=none.
"""

import re
from collections.abc import Iterable, Iterator

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Severity, finding
from weft.observe.facts.base import Fact
from weft.observe.facts.communicators import ChannelPath, CommunicatorRank, CommunicatorShape
from weft.observe.facts.gpus import GpuCallFailed, GpuSeen
from weft.observe.facts.pods import PodState

_SWITCHES = ("NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE")
_INVALID_DEVICE = 101
_WORDS = (
    r"nvml.*(not found|could not find|busid|bus id|handle ?by ?pci)|by ?pci ?bus "
    r"?id.*(fail|not found)"
)
_SHARE_NODE = re.compile(
    r"^.{0,120}\b(?:both|two|all|these|\d{1,2})(?: \d{1,2})? (?:pods|containers)\b.{0,40}?\b"
    r"(?:on|in) (?:(?:the same|one|a single) (?:(?:physical|GPU|worker|kubernetes) )?"
    r"(?:node|host|machine|server|instance)\b|[a-z][a-z-]{0,30}\d[\w.-]{0,60}\b).{0,160}",
    re.IGNORECASE | re.MULTILINE,
)
"""Somebody's word that pods or containers have one node between them."""
_HANDLES = (
    r"(?:cuda|hip)ipc(?:get|open)memhandle failed ?: ?invalid|"
    r"failed to open cuda ipc handle ?: ?\d* ?invalid"
)


def _check(facts: Facts) -> Iterator[Finding]:
    importing = bool(job.said(facts, r"import\w*fromshareablehandle"))
    lines: list[Fact] = [
        one for one in facts.of(GpuCallFailed)
        if ("bus" in one.call.lower() + one.evidence.text.lower()
        and "not found" in f"{one.error} {one.evidence.text}".lower())
        or ((one.code == _INVALID_DEVICE or "invalid device ordinal" in one.error)
            and ("import" in one.evidence.text.lower() or "p2p." in one.place or importing))
    ]  # fmt: skip
    lines += job.said(facts, _WORDS)
    network = _network_within(facts)
    handles = job.said(facts, _HANDLES)
    if handles and not (lines or network):
        yield _not_shared(handles)
    shared = [] if lines or network else _on_one_node(facts) or _said_to_share_node(facts)
    if shared:
        yield finding(
            "container-gpu-isolation",
            shared,
            0.7,
            severity=Severity.WARNING,
            message="ranks in different containers of one host meet through the network",
            advice="one container with all GPUs for the ranks of a host",
            next_command="kubectl get pods -o wide; nvidia-smi topo -m   # on the node",
            missing=("whether these GPUs are joined by more than the network",),
        )
    if lines or network:
        yield finding(
            "container-gpu-isolation",
            [*lines, *network],
            0.85 if lines else 0.65,
            message="ranks of one host do not see one another's GPUs",
            advice="let every rank see all GPUs of its host and choose by local rank",
            next_command="nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES   # in every rank",
        )


def _not_shared(handles: list[Fact]) -> Finding:
    """State that memory of one rank's GPU could not be shown to another rank of the host."""
    return finding(
        "container-gpu-isolation",
        handles,
        0.6,
        message="ranks of one host cannot open one another's GPU memory",
        advice="one container for the ranks of a host, or --ipc=host --pid=host and all GPUs",
        next_command="nvidia-smi -L; ls -l /proc/self/ns/ipc /proc/self/ns/pid   # every rank",
        missing=("whether the ranks share a container, and which GPUs each sees",),
    )


def _on_one_node(facts: Facts) -> list[Fact]:
    """Return pods of one node whose ranks, one in each, take one another for other hosts."""
    shapes = {
        one.process.host: one for one in facts.of(CommunicatorShape)
        if one.process.host and (one.local_ranks or 0) < (one.ranks or 0)
    }  # fmt: skip
    paths: dict[str, list[ChannelPath]] = {}
    for one in facts.of(ChannelPath):
        paths.setdefault(one.process.host, []).append(one)
    lone = _pods_of_one_gpu(facts)
    nodes: dict[str, dict[str, PodState]] = {}
    for pod in facts.of(PodState):
        talks = pod.pod in shapes or pod.pod in paths or pod.pod in lone
        if pod.node and talks and pod.phase == "Running":
            nodes.setdefault(pod.node, {})[pod.pod] = pod
    for pods in nodes.values():
        ranks = {
            rank for name in pods for rank in _ranks(shapes.get(name), paths.get(name, ()))
        }
        silent = [name for name in pods if name not in shapes and name not in paths]
        mets = {end for name in pods for one in paths.get(name, ())
                for end in (one.source, one.target)}  # fmt: skip
        if len(mets) == len(pods) and mets > ranks and len(mets - ranks) == len(silent):
            ranks = mets  # who says nothing is the rest of the ranks
        over = [
            path for name in pods for path in paths.get(name, ())
            if {path.source, path.target} <= ranks
        ]  # fmt: skip
        counted = not shapes or any(
            (shapes[name].hosts or 0) > 1 for name in pods if name in shapes
        )
        by_network = bool(over) and all(one.transport == "NET" for one in over)
        if len(pods) > 1 and counted and by_network:
            return [*pods.values(), *over[:2], *shapes.values()]
    return []


def _pods_of_one_gpu(facts: Facts) -> set[str]:
    """Return the pods that list one GPU and no more."""
    shown: dict[str, set[str]] = {}
    for one in facts.of(GpuSeen):
        if one.host:
            shown.setdefault(one.host, set()).add(one.uuid or one.bus_id or str(one.index))
    return {host for host, gpus in shown.items() if len(gpus) == 1}


def _said_to_share_node(facts: Facts) -> list[Fact]:
    """Return what shows pods of one GPU that take one another for hosts, on a node they share.

    That they share it somebody says: the library cannot know.
    """
    shapes = [
        one for one in facts.of(CommunicatorShape)
        if (one.hosts or 0) > 1 and one.hosts == one.ranks and one.local_ranks == 1
    ]  # fmt: skip
    paths = facts.of(ChannelPath)
    by_network = bool(paths) and all(one.transport == "NET" for one in paths)
    if not by_network or len(shapes) < len(facts.of(CommunicatorShape)):
        return []
    said = job.told(facts, _SHARE_NODE)
    return [*said, *paths[:2], *shapes[:2]] if said and shapes else []


def _ranks(shape: CommunicatorShape | None, paths: Iterable[ChannelPath]) -> set[int]:
    """Return the ranks of one container: as it says itself, and from where it sends."""
    own = {one.source if one.direction == "send" else one.target for one in paths
           if one.direction in {"send", "receive"}}  # fmt: skip
    return own | ({shape.rank} if shape and shape.rank is not None else set())


def _network_within(facts: Facts) -> list[Fact]:
    """Return channels over the network between ranks of one host where it is the only way."""
    place = {
        one.rank: one.process.host for one in facts.of(CommunicatorRank) if one.process.host
    }
    gpus = {(one.process.host, one.gpu) for one in facts.of(CommunicatorRank)}
    inside = [
        one for one in facts.of(ChannelPath)
        if place.get(one.source) and place.get(one.source) == place.get(one.target)
    ]  # fmt: skip
    shapes = facts.of(CommunicatorShape)
    alone = bool(shapes) and {one.hosts for one in shapes} == {1}
    off = [name for name in _SWITCHES if job.switched_on(facts, name)]
    paths = facts.of(ChannelPath)
    if alone and not off and paths and all(one.transport == "NET" for one in paths):
        return [*paths[:4], *shapes[:2]]
    one_gpu_each = len({gpu for _, gpu in gpus}) == 1 and len(place) > len({*place.values()})
    over = [one for one in inside if one.transport == "NET"]
    return [*over] if over and one_gpu_each and len(over) == len(inside) else []


gpus_hidden = Rule(causes=("container-gpu-isolation",), check=_check)
