"""Predicates on pods and containers."""

from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

import re2

from weft.lint import facts
from weft.lint.document import whole
from weft.lint.names import names
from weft.lint.predicates.launch import PLACES
from weft.lint.rule import Case, Found, Severity, grouped, problem, usual
from weft.lint.shell import value_of

_GPUS: Final = frozenset(names("resources.gpus"))
_WITHOUT_RDMA: Final = tuple(names("resources.without_rdma"))
_PREFIXES: Final = tuple(names("resources.prefixes"))


def is_rdma(name: str) -> bool:
    """Return whether a resource of Kubernetes is a device that can do RDMA."""
    return "/" in name and not name.startswith(_WITHOUT_RDMA)


def _gpus(container: facts.Container) -> int:
    """Return how many GPUs a container has, of any maker."""
    return max(
        (whole(count) or 0 for name, count in container.limits if name in _GPUS), default=0
    )


def container_rdma(one: facts.Container, case: Case) -> Found:
    if one.engine != "docker" or not one.gpus:
        return
    own = [v for v in case.of(facts.Variable) if v.device == one.device]
    of_rdma = [v for v in own if v.name.startswith("NCCL_IB_")]
    wants = [v for v in of_rdma if v.name != "NCCL_IB_DISABLE"]
    has = any(device.startswith("/dev/infiniband") for device in one.devices)
    if has or (wants and one.privileged):
        free = one.memlock.split(":")[0] in {"-1", "unlimited"}
        if not free and not one.privileged and "IPC_LOCK" not in one.capabilities:
            yield problem("limit", one)
        elif one.memlock and not free:
            yield problem("pinned", one)
    elif wants and not one.privileged:
        yield problem("no_device", one, *wants, wants=wants)


_EFA: Final = "vpc.amazonaws.com/efa"
_KNOWN: Final = frozenset(
    {_EFA, "vpc.amazonaws.com/pod-eni", "vpc.amazonaws.com/PrivateIPv4Address"}
)
_POD_EFA_SEVERAL: Final = 3


def pod_efa(case: Case) -> Found:
    by_gpus: dict[int, list[tuple[facts.Container, int]]] = {}
    for container in case.of(facts.Container):
        limits = dict(container.limits)
        for name in limits:
            if name.startswith("vpc.amazonaws.com/") and name not in _KNOWN:
                yield problem("unknown", container, name=name)
        gpus = _gpus(container)
        if gpus:
            by_gpus.setdefault(gpus, []).append((container, whole(limits.get(_EFA, "")) or 0))
    for gpus, found in by_gpus.items():
        common, often = usual(count for _, count in found)
        if not common or often < _POD_EFA_SEVERAL or often * 2 <= len(found):
            continue
        shown = next(container for container, count in found if count == common)
        for container, count in found:
            if count < common:
                yield problem(
                    "few", container, shown, gpus=gpus, count=count or "no", usual=common
                )


def pod_gpu_and_rails(case: Case) -> Found:
    if case.cluster is None:
        return
    host = case.cluster.cluster.host
    offers = [offered for offered in case.of(facts.Offered) if offered.count is not None]
    policies = (offer for offer in offers if offer.by.startswith("SriovNetworkNodePolicy"))
    counted = {_base(policy.resource) for policy in policies}
    for container in case.of(facts.Container):
        if _gpus(container) != host.gpus:
            continue
        devices = [
            whole(count) or 0 for name, count in container.limits if _base(name) in counted
        ]
        if devices and sum(devices) < host.nics:
            yield problem("few", container, case.cluster, host=host, total=sum(devices))


def pod_ipc_lock(case: Case) -> Found:
    offers = {_base(offered.resource) for offered in case.of(facts.Offered)}
    for container in case.of(facts.Container):
        if container.engine != "kubernetes":
            continue
        names = [
            name
            for name, _ in [*container.limits, *container.requests]
            if is_rdma(name) and (name.startswith(_PREFIXES) or _base(name) in offers)
        ]
        if (
            names
            and not container.privileged
            and not {"IPC_LOCK", "ALL"} & set(container.capabilities)
        ):
            yield problem("no_lock", container, names=names)


def pod_network_count(case: Case) -> Found:
    networks = {network.name: network for network in case.of(facts.Network)}
    by_resource = {
        _base(network.resource): network for network in networks.values() if network.resource
    }
    # Jobs of one name in several namespaces stand in files of their own.
    containers = grouped(
        case.of(facts.Container), lambda container: (container.at.text.name, container.device)
    )
    for pod in case.of(facts.Workload):
        own = containers.get((pod.at.text.name, pod.device), [])
        if not own or pod.host_network:
            continue
        attached = [networks[n] for n in map(_name, pod.networks) if n in networks]
        wanted = Counter(_base(network.resource) for network in attached if network.resource)
        asked = _asked(own)
        known = {name: count for name, count in asked.items() if name in by_resource}
        yield from _short(pod, own[0], wanted, known)
        if len(attached) == len(pod.networks):
            yield from _unattached(pod, own[0], wanted, known, by_resource)


def _name(network: str) -> str:
    return network.rpartition("/")[2]


def _base(resource: str) -> str:
    return resource.partition("/")[2]


def _asked(containers: list[facts.Container]) -> Counter[str]:
    found: Counter[str] = Counter()
    for container in containers:
        for name, count in (dict(container.requests) | dict(container.limits)).items():
            found[_base(name)] += whole(count) or 0
    return found


def _short(
    pod: facts.Workload, shown: facts.Container, wanted: Counter[str], known: dict[str, int]
) -> Found:
    if not known:
        return  # a webhook may add the devices of the networks to the pod
    for resource, count in wanted.items():
        given, ending = known.get(resource, 0), "s" if count > 1 else ""
        if given != count:
            yield problem(
                "devices", shown, pod, given=given or "no", resource=resource, count=count,
                ending=ending, severity=Severity.ERROR if given < count else None,
            )  # fmt: skip


def _unattached(
    pod: facts.Workload,
    shown: facts.Container,
    wanted: Counter[str],
    known: dict[str, int],
    by_resource: dict[str, facts.Network],
) -> Found:
    for resource, count in known.items():
        if count and resource not in wanted:
            seen = shown, pod, by_resource[resource]
            yield problem("unattached", *seen, count=count, resource=resource)


def pod_network_namespace(case: Case) -> Found:
    spaces: dict[str, set[str]] = {}
    for network in case.of(facts.Network):
        spaces.setdefault(network.name, set()).add(network.namespace or "default")
    for pod in case.of(facts.Workload):
        for name in pod.networks:
            space, _, base = name.rpartition("/")
            known = spaces.get(base, set())
            if space and known and space not in known:
                yield problem("namespace", pod, base=base, names=known, space=space)


_WITH_DEVICES: Final = frozenset({"HostDeviceNetwork", "SriovNetwork", "SriovIBNetwork"})


def pod_rdma_resource(case: Case) -> Found:
    offers = [offered.resource for offered in case.of(facts.Offered)]
    yield from _requested(case, offers)
    yield from _networks(case, offers)
    yield from _attached(case)
    yield from _claimed(case, offers)


def _requested(case: Case, offers: list[str]) -> Found:
    plugins = [offer for offer in offers if not offer.startswith("claim/")]
    for container in case.of(facts.Container):
        for name, _ in (
            dict([*container.requests, *container.limits]).items() if plugins else ()
        ):
            known = not is_rdma(name) or not name.startswith(_PREFIXES)
            if not known and not _offered(name, plugins):
                near = _near(case, name)
                fix = f"is {near.resource} meant?" if near else "define it, or correct the name"
                yield problem(
                    "resource", container, *([near] if near else []), name=name, fix=fix
                )


def _near(case: Case, name: str) -> facts.Offered | None:
    """Return the offer whose name is most like the one asked for."""
    bases = {_base(offered.resource): offered for offered in case.of(facts.Offered)}
    found = get_close_matches(_base(name), bases, n=1)
    return bases[found[0]] if found else None


def _networks(case: Case, offers: list[str]) -> Found:
    plugins = [offer for offer in offers if not offer.startswith("claim/")]
    for network in case.of(facts.Network):
        if network.kind in _WITH_DEVICES and not network.resource:
            yield problem("no_resource", network)
        if network.resource and plugins and not _offered(network.resource, plugins):
            yield problem("network", network)
        pools = {pool.name for pool in case.of(facts.AddressPool)}
        if network.pool and pools and network.pool not in pools:
            yield problem("pool", network)


def _claimed(case: Case, offers: list[str]) -> Found:
    claims = {_base(offer) for offer in offers if offer.startswith("claim/")}
    for pod in case.of(facts.Workload):
        for claim in pod.claims:
            if claims and claim not in claims:
                yield problem("claim", pod, claim=claim)


def _offered(name: str, offers: list[str]) -> bool:
    prefix, _, base = name.partition("/")
    return any(
        base == other.partition("/")[2]
        and (prefix == other.partition("/")[0] or "*" in {prefix, other.partition("/")[0]})
        for other in offers
    )


def _attached(case: Case) -> Found:
    networks = {network.name for network in case.of(facts.Network)}
    for pod in case.of(facts.Workload):
        for name in pod.networks if networks else ():
            if _name(name) not in networks:
                yield problem("attached", pod, name=name, names=sorted(networks)[:8])


def pod_resource_request(one: facts.Container) -> Found:
    limits, requests = dict(one.limits), dict(one.requests)
    pages = [name for name in [*limits, *requests] if name.startswith("hugepages-")]
    if pages and not {"cpu", "memory"} & {*limits, *requests}:
        yield problem("pages", one, pages=pages)
    for name in dict.fromkeys([*limits, *requests]):
        if "/" not in name:
            continue
        asked, limit = requests.get(name), limits.get(name)
        if limit is None:
            yield problem("no_limit", one, name=name)
        elif asked is not None and asked != limit and "$" not in asked + limit:
            yield problem("differs", one, asked=asked, name=name, limit=limit)
        elif "$" not in limit and (whole(limit) is None or (whole(limit) or 0) < 0):
            yield problem("whole", one, limit=limit, name=name)


_LEAST_BYTES: Final = 1 << 30


def pod_shared_memory(case: Case) -> Found:
    pods = {workload.device: workload for workload in case.of(facts.Workload)}
    for container in case.of(facts.Container):
        if container.engine == "docker":
            if (
                container.gpus
                and not container.host_ipc
                and (container.shm_bytes or 0) < _LEAST_BYTES
            ):
                said = f"{container.shm_bytes} B" if container.shm_bytes else "Docker's 64 MiB"
                yield problem("docker", container, said=said)
            continue
        pod = pods.get(container.device)
        gpus = _gpus(container)
        if pod is None or gpus < 2 or pod.host_ipc:  # noqa: PLR2004 - ranks that share memory
            continue
        if pod.shm_bytes is None:
            yield problem("none", container, gpus=gpus)
        elif 0 < pod.shm_bytes < _LEAST_BYTES:
            yield problem("small", container, pod=pod, gpus=gpus)


_OF_MULTUS: Final = re2.compile(r"=?net(\d+)")
_VARIABLES: Final = tuple(names("variables.of_sockets"))
_OF_MPI: Final = frozenset({"oob_tcp_if_include", "btl_tcp_if_include"})
_POD_SOCKET_RAIL_SEVERAL: Final = 2


def pod_socket_rail(case: Case) -> Found:
    pods = {workload.device: workload for workload in case.of(facts.Workload)}
    attached = {pod.device.partition(" ")[0] for pod in pods.values() if pod.networks}
    rails = {network.name for network in case.of(facts.Network) if network.resource}
    for fact, device, setting, value in _named(case):
        match, pod = _OF_MULTUS.fullmatch(value), pods.get(device)
        if pod is None or match is None or pod.host_network:
            continue
        number, count = int(match[1]), len(pod.networks)
        if device.partition(" ")[0] not in attached:
            continue  # something else may attach networks to the pods
        if number > count:
            yield problem(
                "absent", fact, pod, setting=setting, number=number, count=count or "no",
                ending="s" if count != 1 else "",
            )  # fmt: skip
        elif count >= _POD_SOCKET_RAIL_SEVERAL and _is_rail(pod.networks[number - 1], rails):
            name = pod.networks[number - 1]
            yield problem("rail", fact, pod, setting=setting, number=number, value=name)


def _is_rail(name: str, rails: set[str]) -> bool:
    return not rails or _name(name) in rails


def _named(case: Case) -> Iterator[tuple[facts.Fact, str, str, str]]:
    for variable in case.variables(*_VARIABLES):
        for value in variable.value.split(","):
            yield variable, variable.device, variable.name, value
    for launch in case.of(facts.Launch):
        for name, value in zip(launch.words, launch.words[1:], strict=False):
            if name in _OF_MPI:
                for part in value.split(","):
                    yield launch, launch.device, name, part


_MEANT: Final = tuple(names("variables.for_rdma"))


def pod_without_rdma(case: Case) -> Found:
    pods = {workload.device: workload for workload in case.of(facts.Workload)}
    for container in case.of(facts.Container):
        pod = pods.get(container.device)
        wanted = [v for v in case.variables(*_MEANT) if v.device == container.device]
        gpus = any(name in _GPUS for name, _ in container.limits)
        if pod is None or not wanted or not gpus or pod.claims or container.privileged:
            continue
        if any(is_rdma(name) for name, _ in [*container.limits, *container.requests]):
            continue
        off = [v for v in case.variables("NCCL_IB_DISABLE") if v.device == container.device]
        if not any(v.value == "1" for v in off):
            yield problem("no_device", container, *wanted, wanted=wanted)


_NAME: Final = re2.compile(r"([a-z][a-z0-9-]*)(?:\.([a-z][a-z0-9-]*)(\..*)?)?(?::\d+)?")
_ADDED: Final = re2.compile(r"-(master|worker|launcher)-\d+$")


def launch_address(case: Case) -> Found:
    files: dict[str, dict[str, facts.Named]] = {}
    for named in case.of(facts.Named):
        files.setdefault(named.at.text.name, {})[named.name] = named
    pods = {workload.device: workload for workload in case.of(facts.Workload)}
    for launch in case.of(facts.Launch):
        names = files.get(launch.at.text.name, {})
        place = _NAME.fullmatch(value_of(launch.words, *PLACES))
        if not names or place is None or launch.device not in pods or place[1] == "localhost":
            continue
        known = [
            item for item in (place[1], place[2], _ADDED.sub("", place[1])) if item in names
        ]
        stray = place[2] in names and _stray(names[place[2]], place[1], launch.device)
        if not known or stray:
            first = next(iter(names.values()))
            yield problem("nowhere", launch, first, place=place, names=names.keys())


def _stray(owner: facts.Named, host: str, device: str) -> bool:
    """Return whether a host cannot be a pod of its JobSet: they are named by set and job."""
    role = device.partition(" ")[2]
    return (
        owner.kind == "JobSet"
        and owner.device == device.partition(" ")[0]
        and bool(role)
        and not host.startswith(f"{owner.name}-{role}-")
    )
