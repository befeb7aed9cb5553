"""A pod has more RDMA devices than networks, or the other way round.

What it checks: the number of devices that a container asks for against the networks that its
pod is attached to, for SR-IOV and host devices.
Why it matters: a device without a network has no address, so no GID: its rail is not used; a
network without a device fails at start.
What to do: name the network once for each device.
References: Multus; SR-IOV network device plug-in.
"""

from collections import Counter

from weft.lint.document import whole
from weft.lint.facts import Container, Network, Workload
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    networks = {one.name: one for one in case.of(Network)}
    for pod in case.of(Workload):
        attached = [
            networks[n.rpartition("/")[2]]
            for n in pod.networks
            if n.rpartition("/")[2] in networks
        ]
        wanted = Counter(one.resource.partition("/")[2] for one in attached if one.resource)
        for one in case.of(Container):
            if one.device != pod.device:
                continue
            asked = {n.partition("/")[2]: whole(c) for n, c in one.limits}
            for resource, count in wanted.items():
                given = asked.get(resource)
                if given is not None and given != count:
                    yield problem(
                        [one, pod],
                        f"{pod.device} asks for {given} {resource} and is "
                        f"attached to {count} networks of it",
                        "name the network once for each device",
                    )


pod_network_count = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.WARNING,
    reference="https://github.com/k8snetworkplumbingwg/multus-cni",
    check=_check,
)
