"""Predicates on how jobs are started."""

from typing import Final

import re2

from weft.lint.document import whole
from weft.lint.facts import Container, Launch, Slots, Variable, Workload
from weft.lint.names import names
from weft.lint.rule import Case, Found, Severity, grouped, path_of, problem, usual
from weft.lint.shell import value_of
from weft.lint.variables import exists

_PLACED: Final = re2.compile(r"ppr:(\d+):node")
_HOST: Final = re2.compile(r"(?:\$\{\w+:-)?([A-Za-z][\w.-]*)\}?(?::\d+)?")
_MPI: Final = frozenset({"mpirun", "mpiexec", "orterun"})


def launch_hosts(case: Case) -> Found:
    folders = grouped(case.of(Slots), lambda slots: slots.at.text.parent)
    for rows in folders.values():
        yield from _rows(rows)
    for launch in case.of(Launch):
        hosts = folders.get(launch.at.text.parent, [])
        named = len({host.at.text.name for host in hosts}) == 1
        if named and launch.tool in _MPI and value_of(launch.words, "--hostfile", "-hostfile"):
            yield from _mpi(launch, hosts)
        elif named and launch.tool == "torchrun":
            yield from _torch(launch, hosts)


def _rows(rows: list[Slots]) -> Found:
    first: dict[str, Slots] = {}
    common, _ = usual(row.count for row in rows)
    for row in rows:
        other = first.setdefault(row.device, row)
        if other is not row:
            yield problem("twice", row, other)
        if row.count != common:
            yield problem("ranks", row, usual=common)


def _mpi(launch: Launch, hosts: list[Slots]) -> Found:
    ranks = whole(value_of(launch.words, "-np", "-n", "--np"))
    total = sum(host.count for host in hosts)
    if ranks is None:
        return
    seen = launch, hosts[0]
    if ranks > total or 0 < total - ranks < hosts[0].count:
        severity = Severity.ERROR if ranks > total else None
        yield problem("slots", *seen, ranks=ranks, hosts=hosts, total=total, severity=severity)
    placed = next((m for word in launch.words if (m := _PLACED.search(word))), None)
    if placed and int(placed[1]) * len(hosts) < ranks:
        need = -(-ranks // len(hosts))
        yield problem("placed", *seen, placed=placed, hosts=hosts, ranks=ranks, value=need)


def _torch(launch: Launch, hosts: list[Slots]) -> Found:
    listed = {host.device for host in hosts}
    nodes = whole(value_of(launch.words, "--nnodes"))
    each = whole(value_of(launch.words, "--nproc-per-node", "--nproc_per_node"))
    if nodes is not None and nodes != len(listed) and nodes * 2 > len(listed) > 1:
        yield problem("nodes", launch, hosts[0], nodes=nodes, names=listed)
    if each is not None and each not in {1, hosts[0].count}:
        yield problem("each", launch, hosts[0], each=each)
    place = value_of(launch.words, "--rdzv-endpoint", "--rdzv_endpoint", "--master-addr")
    host = _HOST.fullmatch(place)
    if host and host[1] not in listed and "." not in host[1] and host[1] != "localhost":
        yield problem("place", launch, hosts[0], host=host)


def launch_mpi(one: Launch) -> Found:
    if one.tool not in _MPI:
        return
    for name, value in zip(one.words, one.words[1:], strict=False):
        listed = {part.partition("%")[0] for part in value.split(",")}
        if name == "btl_tcp_if_exclude" and not any(_is_loopback(part) for part in listed):
            yield problem("loopback", one, value=value[:60])
        elif name in {"--bind-to", "-bind-to"} and value == "core" and _of_gpus(one):
            yield problem("core", one)


def _is_loopback(part: str) -> bool:
    return part in {"lo", "loopback"} or part.startswith("127.")


def _of_gpus(one: Launch) -> bool:
    return any("NCCL_" in word or "_perf" in word or "torch" in word for word in one.words)


_BACKENDS: Final = frozenset({"c10d", "etcd", "etcd-v2", "static", "zeus-adapter"})
_LAST_PORT: Final = 65535
PLACES: Final = ("--rdzv-endpoint", "--rdzv_endpoint", "--master-addr", "--master_addr")
"""Options that name where processes meet."""
_OF_HOSTS: Final = frozenset(names("programs.options_of_hosts"))
"""Options of MPI that name hosts."""
_OWN_RANK: Final = ("Job/", "JobSet/", "Deployment/", "StatefulSet/")
"""Objects that tell pods nothing of their rank that torchrun reads by itself."""
_DEFAULT: Final = re2.compile(r"\$\{\w+:?-([^}]*)\}")
"""A variable of a shell with what is taken where it is unset."""
_LOCAL: Final = re2.compile(r"(localhost|127\.0\.0\.1|0\.0\.0\.0|::1)(:\d+)?")


def launch_rendezvous(case: Case) -> Found:
    for launch in case.of(Launch):
        yield from _form(launch)
        several = launch.tool == "torchrun" and _several(launch.words)
        if several and "--standalone" in launch.words:
            yield problem("standalone", launch)
        place = _DEFAULT.sub(r"\1", value_of(launch.words, *PLACES))
        if several and _LOCAL.fullmatch(place):
            yield problem("local", launch, place=place)
    replicas = {workload.device: workload.replicas for workload in case.of(Workload)}
    for variable in case.variables("MASTER_ADDR"):
        if _LOCAL.fullmatch(variable.value) and (replicas.get(variable.device) or 1) > 1:
            yield problem("pods", variable)


def _form(launch: Launch) -> Found:
    if launch.tool != "torchrun":
        return
    backend = value_of(launch.words, "--rdzv-backend", "--rdzv_backend")
    if backend and "$" not in backend and backend not in _BACKENDS:
        yield problem("backend", launch, backend=backend, names=_BACKENDS)
    endpoint = value_of(launch.words, "--rdzv-endpoint", "--rdzv_endpoint").rpartition(":")[2]
    port = value_of(launch.words, "--master-port", "--master_port") or endpoint
    if port.isdecimal() and not 0 < int(port) <= _LAST_PORT:
        yield problem("port", launch, port=port)
    ranked = any(
        word.startswith(("--node-rank", "--node_rank", "--rdzv")) for word in launch.words
    )
    placed = any(word.startswith(("--master-addr", "--master_addr")) for word in launch.words)
    if placed and not ranked and _several(launch.words) and launch.device.startswith(_OWN_RANK):
        yield problem("rank", launch)


def _several(words: tuple[str, ...]) -> bool:
    nodes = value_of(words, "--nnodes")
    return bool(nodes) and nodes not in {"1", "1:1"}


def launch_variables_left_behind(launch: Launch, case: Case) -> Found:
    operated = launch.device.startswith("MPIJob")
    if launch.tool not in {"mpirun", "orterun"} or (_single(launch) and not operated):
        return
    passed = {
        word.partition("=")[0]
        for flag, word in zip(launch.words, launch.words[1:], strict=False)
        if flag in {"-x", "--x", "-genv", "-env"}
    }
    text = " ".join(launch.words)
    if "mca_base_env_list" in text or "-genvall" in text or "$" in "".join(passed):
        return
    here = [
        variable
        for variable in case.of(Variable)
        if variable.at.text is launch.at.text
        and variable.device == launch.device
        and variable.name.startswith(("NCCL_", "UCX_", "TORCH_NCCL_"))
        and (operated or variable.at.line < launch.at.line)
        and variable.name not in passed
        and not (variable.name.startswith("NCCL_") and not exists(variable.name))
        and not variable.everywhere
    ]
    if here:
        yield problem("left_behind", launch, *here, names={variable.name for variable in here})


def _single(launch: Launch) -> bool:
    """Return whether all processes are on this host: no hosts are named."""
    return _OF_HOSTS.isdisjoint(launch.words)


def launch_world_size(case: Case) -> Found:
    gpus: dict[str, tuple[int, Container]] = {}
    for container in case.of(Container):
        count = whole(dict(container.limits).get("nvidia.com/gpu", ""))
        if count:
            gpus.setdefault(container.device.partition(" ")[0], (count, container))
    yield from _slots(case, gpus)
    for launch in case.of(Launch):
        own = gpus.get(launch.device.partition(" ")[0])
        each = whole(value_of(launch.words, "--nproc-per-node", "--nproc_per_node"))
        if own and each is not None and each != own[0] and launch.tool == "torchrun":
            yield problem("gpus", launch, own[1], each=each, own=own)
    yield from _slurm(case)
    yield from _pods(case)


def _pods(case: Case) -> Found:
    """Compare the pods that torchrun waits for with those that there are."""
    pods = {workload.device: workload for workload in case.of(Workload)}
    groups: dict[tuple[str, str, int], list[tuple[Launch, Workload]]] = {}
    for launch in case.of(Launch):
        nodes = whole(value_of(launch.words, "--nnodes"))
        pod = pods.get(launch.device)
        if launch.tool == "torchrun" and nodes and pod:
            meet = value_of(launch.words, "--rdzv-id", "--rdzv_id")
            key = (launch.at.text.name, meet or launch.device.partition(" ")[0], nodes)
            groups.setdefault(key, []).append((launch, pod))
    for (_, _, nodes), found in groups.items():
        counts = [pod.replicas for _, pod in found]
        total = sum(count or 0 for count in counts)
        if None not in counts and total != nodes:
            seen = [found[0][0], *(pod for _, pod in found)]
            yield problem("pods", *seen, nodes=nodes, total=total)


def _slots(case: Case, gpus: dict[str, tuple[int, Container]]) -> Found:
    for workload in case.of(Workload):
        job = workload.device.partition(" ")[0]
        settings = dict(workload.settings)
        slots = whole(settings.get("slotsPerWorker", "") or settings.get("nprocPerNode", ""))
        if slots is None or job not in gpus or "orker" not in workload.role:
            continue
        count, container = gpus[job]
        if slots != count:
            yield problem("slots", workload, container, slots=slots, count=count)
        if workload.replicas is None:
            continue
        for launch in case.of(Launch):
            if launch.device.partition(" ")[0] != job or launch.tool != "mpirun":
                continue
            ranks = whole(value_of(launch.words, "-np", "-n", "--np"))
            each = whole(value_of(launch.words, "-N", "--npernode", "-npernode"))
            if each is not None and each != slots:
                yield problem("placed", launch, workload, each=each, slots=slots)
            total = slots * workload.replicas
            if ranks is not None and ranks != total:
                yield problem("ranks", launch, workload, ranks=ranks, slots=slots, value=total)


def _slurm(case: Case) -> Found:
    for rows in grouped(case.options("sbatch"), path_of).values():
        found = {row.name: row for row in rows}
        tasks, gpus = found.get("ntasks-per-node"), found.get("gpus-per-node")
        count = whole(gpus.value.rpartition(":")[2]) if gpus else None
        ranks = whole(tasks.value) if tasks else None
        if tasks and gpus and ranks is not None and count and ranks not in {1, count}:
            yield problem("tasks", tasks, gpus, ranks=ranks, count=count)
