"""A pod meets the others over an interface that it does not have, or over one rail of many.

What it checks: NCCL_SOCKET_IFNAME, NCCL_OOB_NET_IFNAME and GLOO's, and the interfaces that
mpirun is given for TCP, where they name net1, net2, ... of Multus: against the number of
networks of the pod, and where the pod has several rails.
Why it matters: an interface that is not there ends the job at its start. A bootstrap over a
rail works only while every host reaches every other on it, puts TCP beside RDMA, and hangs
where two pods name different rails.
What to do: name the pod's own interface, eth0; the rails are for RDMA.
References: Multus, interface names; NCCL user guide, NCCL_SOCKET_IFNAME.
"""

from collections.abc import Iterator
from typing import Final

import re2

from weft.lint.facts import Fact, Launch, Network, Workload
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_OF_MULTUS: Final = re2.compile(r"=?net(\d+)")
_VARIABLES: Final = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "NCCL_OOB_NET_IFNAME")
_OF_MPI: Final = frozenset({"oob_tcp_if_include", "btl_tcp_if_include"})
_SEVERAL: Final = 2


def _check(case: Case) -> Found:
    pods = {one.device: one for one in case.of(Workload)}
    attached = {one.device.partition(" ")[0] for one in pods.values() if one.networks}
    rails = {one.name for one in case.of(Network) if one.resource}
    for fact, device, setting, value in _named(case):
        match, pod = _OF_MULTUS.fullmatch(value), pods.get(device)
        if pod is None or match is None or pod.host_network:
            continue
        number, count = int(match[1]), len(pod.networks)
        if device.partition(" ")[0] not in attached:
            continue  # something else may attach networks to the pods
        if number > count:
            yield problem(
                [fact, pod],
                f"{setting} names net{number}, and {device} has "
                f"{count or 'no'} network{'s' if count != 1 else ''} of Multus",
                "name the pod's own interface, eth0",
                severity=Severity.ERROR,
            )
        elif count >= _SEVERAL and _is_rail(pod.networks[number - 1], rails):
            yield problem(
                [fact, pod],
                f"{setting} names net{number}, the network {pod.networks[number - 1]}: one of "
                f"{count} rails, which leads only to the hosts that meet on it",
                "name the pod's own interface, eth0",
            )


def _is_rail(name: str, rails: set[str]) -> bool:
    return not rails or name.rpartition("/")[2] in rails


def _named(case: Case) -> Iterator[tuple[Fact, str, str, str]]:
    for one in case.variables(*_VARIABLES):
        for value in one.value.split(","):
            yield one, one.device, one.name, value
    for launch in case.of(Launch):
        for name, value in zip(launch.words, launch.words[1:], strict=False):
            if name in _OF_MPI:
                for part in value.split(","):
                    yield launch, launch.device, name, part


pod_socket_rail = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.WARNING,
    reference="https://github.com/k8snetworkplumbingwg/multus-cni",
    check=_check,
)
