"""A pod asks for an RDMA resource, a network or a claim that nothing offers.

What it checks: requested RDMA resources (rdma/..., nvidia.com/... that are no GPU,
openshift.io/...) against the device plug-ins and policies; networks of the Multus annotation
against networks; claims against their templates; networks against the resource that they name.
Why it matters: the pod stays Pending for ever, or starts without its second network.
What to do: use the name that the policy gives, prefix included.
References: Kubernetes, device plug-ins; Multus, k8s.v1.cni.cncf.io/networks.
"""

from difflib import get_close_matches
from typing import Final

from weft.lint.facts import AddressPool, Container, Network, Offered, Workload
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_OTHER: Final = frozenset(
    {
        "nvidia.com/gpu",
        "cpu",
        "memory",
        "ephemeral-storage",
        "amd.com/gpu",
        "habana.ai/gaudi",
        "vpc.amazonaws.com/efa",
        "hugepages-2Mi",
        "hugepages-1Gi",
        "google.com/tpu",
        "nvidia.com/gpu.shared",
    }
)
_PREFIXES: Final = (
    "rdma/",
    "nvidia.com/",
    "openshift.io/",
    "mellanox.com/",
    "intel.com/",
    "networking.gke.io",
)


_WITH_DEVICES: Final = frozenset({"HostDeviceNetwork", "SriovNetwork", "SriovIBNetwork"})


def _check(case: Case) -> Found:
    offers = [one.resource for one in case.of(Offered)]
    yield from _requested(case, offers)
    yield from _networks(case, offers)
    yield from _attached(case)
    yield from _claimed(case, offers)


def _requested(case: Case, offers: list[str]) -> Found:
    plugins = [one for one in offers if not one.startswith("claim/")]
    for one in case.of(Container):
        for name, _ in dict([*one.requests, *one.limits]).items() if plugins else ():
            if name in _OTHER or not name.startswith(_PREFIXES) or "/mig-" in name:
                continue
            if not _offered(name, plugins):
                near = _near(case, name)
                fix = f"is {near.resource} meant?" if near else "define it, or correct the name"
                yield problem(
                    [one, *([near] if near else [])],
                    f"{one.device} asks for {name}, which no device plug-in offers",
                    fix,
                )


def _near(case: Case, name: str) -> Offered | None:
    """Return the offer whose name is most like the one asked for."""
    bases = {one.resource.partition("/")[2]: one for one in case.of(Offered)}
    found = get_close_matches(name.partition("/")[2], bases, n=1)
    return bases[found[0]] if found else None


def _networks(case: Case, offers: list[str]) -> Found:
    plugins = [one for one in offers if not one.startswith("claim/")]
    for network in case.of(Network):
        if network.kind in _WITH_DEVICES and not network.resource:
            yield problem(
                network,
                f"network {network.name} takes no resource: pods get no device with it",
                "name the policy's resourceName",
            )
        if network.resource and plugins and not _offered(network.resource, plugins):
            yield problem(
                network,
                f"network {network.name} takes {network.resource}, which no policy offers",
                "use the policy's resourceName",
            )
        pools = {pool.name for pool in case.of(AddressPool)}
        if network.pool and pools and network.pool not in pools:
            yield problem(
                network,
                f"network {network.name} takes addresses from "
                f"{network.pool!r}, which is not there",
                "define the pool",
            )


def _claimed(case: Case, offers: list[str]) -> Found:
    claims = {one.partition("/")[2] for one in offers if one.startswith("claim/")}
    for pod in case.of(Workload):
        for claim in pod.claims:
            if claims and claim not in claims:
                yield problem(
                    pod,
                    f"{pod.device} wants the claim {claim}, which is not there",
                    "define the template",
                )


def _offered(name: str, offers: list[str]) -> bool:
    prefix, _, base = name.partition("/")
    return any(
        base == other.partition("/")[2]
        and (prefix == other.partition("/")[0] or "*" in {prefix, other.partition("/")[0]})
        for other in offers
    )


def _attached(case: Case) -> Found:
    networks = {one.name for one in case.of(Network)}
    for pod in case.of(Workload):
        for name in pod.networks if networks else ():
            if name.rpartition("/")[2] not in networks:
                yield problem(
                    pod,
                    f"{pod.device} is to be attached to {name}, which is not there",
                    f"use one of: {', '.join(sorted(networks)[:8])}",
                )


pod_rdma_resource = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.ERROR,
    reference="https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/",
    check=_check,
)
