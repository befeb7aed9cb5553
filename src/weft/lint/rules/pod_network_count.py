"""A pod has more RDMA devices than networks, or the other way round.

What it checks: the devices that the containers of a pod ask for against the networks that it is
attached to, one by one and by number, for SR-IOV and host devices.
Why it matters: a device without a network has no address, so no GID: its rail is not used; a
network without a device fails at start.
What to do: name each network once, and ask for one device of its resource.
References: Multus; SR-IOV network device plug-in.
"""

from collections import Counter

from weft.lint.document import whole
from weft.lint.facts import Container, Network, Workload
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    networks = {one.name: one for one in case.of(Network)}
    by_resource = {_base(one.resource): one for one in networks.values() if one.resource}
    # Jobs of one name in several namespaces stand in files of their own.
    containers: dict[tuple[str, str], list[Container]] = {}
    for one in case.of(Container):
        containers.setdefault((one.at.text.name, one.device), []).append(one)
    for pod in case.of(Workload):
        own = containers.get((pod.at.text.name, pod.device), [])
        if not own or pod.host_network:
            continue
        attached = [networks[n] for n in map(_name, pod.networks) if n in networks]
        wanted = Counter(_base(one.resource) for one in attached if one.resource)
        asked = _asked(own)
        known = {name: count for name, count in asked.items() if name in by_resource}
        yield from _short(pod, own[0], wanted, known)
        if len(attached) == len(pod.networks):
            yield from _unattached(pod, own[0], wanted, known, by_resource)


def _name(network: str) -> str:
    return network.rpartition("/")[2]


def _base(resource: str) -> str:
    return resource.partition("/")[2]


def _asked(containers: list[Container]) -> Counter[str]:
    found: Counter[str] = Counter()
    for one in containers:
        for name, count in (dict(one.requests) | dict(one.limits)).items():
            found[_base(name)] += whole(count) or 0
    return found


def _short(
    pod: Workload,
    shown: Container,
    wanted: Counter[str],
    known: dict[str, int],
) -> Found:
    if not known:
        return  # a webhook may add the devices of the networks to the pod
    for resource, count in wanted.items():
        given = known.get(resource, 0)
        if given != count:
            yield problem(
                [shown, pod],
                f"{pod.device} asks for {given or 'no'} {resource} and is attached to "
                f"{count} network{'s' if count > 1 else ''} of it",
                "ask for one device for each network, and name each network once",
                severity=Severity.ERROR if given < count else None,
            )


def _unattached(
    pod: Workload,
    shown: Container,
    wanted: Counter[str],
    known: dict[str, int],
    by_resource: dict[str, Network],
) -> Found:
    for resource, count in known.items():
        if count and resource not in wanted:
            yield problem(
                [shown, pod, by_resource[resource]],
                f"{pod.device} asks for {count} {resource} and is attached to no network "
                "of it: the device has no address",
                f"add {by_resource[resource].name} to k8s.v1.cni.cncf.io/networks",
            )


pod_network_count = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.WARNING,
    reference="https://github.com/k8snetworkplumbingwg/multus-cni",
    check=_check,
)
