"""An SR-IOV policy gives no RDMA, no functions, or of the wrong kind.

What it checks: numVfs, isRdma, linkType, the selection of NICs and nodes, and device plug-ins
that offer the same devices twice.
Why it matters: pods get functions without verbs, or none; two plug-ins give one NIC to two
pods; a policy without a selection takes the management NIC.
What to do: isRdma: true, numVfs as pods need, nicSelector and nodeSelector, linkType as the
fabric.
References: SR-IOV network operator, SriovNetworkNodePolicy.
"""

from itertools import combinations
from typing import Final

from weft.lint.facts import Offered
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_INFINIBAND: Final = frozenset({"ib", "infiniband"})


def _check(case: Case) -> Found:
    for one in case.of(Offered):
        if one.resource.startswith("claim/"):
            continue
        sriov = one.by.startswith("SriovNetworkNodePolicy")
        if one.count is not None and one.count < 1:
            yield problem(one, f"{one.by} offers {one.count} of {one.resource}", "offer some")
        if one.rdma is False:
            yield problem(
                one, f"{one.by} offers {one.resource} without RDMA", "set isRdma: true"
            )
        if not one.selected:
            said = "nicSelector and nodeSelector" if sriov else "selectors"
            yield problem(
                one,
                f"{one.by} does not say which devices it means",
                f"add {said}",
                severity=Severity.WARNING,
            )
        kind = one.link_type.lower()
        if kind and case.fabric in {"infiniband", "roce"}:
            infiniband = bool(_INFINIBAND & set(kind.split(",")))
            if infiniband is not (case.fabric == "infiniband"):
                yield problem(
                    one,
                    f"{one.by} takes NICs of link type {one.link_type}, and the "
                    f"fabric is {case.fabric}",
                    "correct linkType",
                )
    yield from _twice(case)


def _twice(case: Case) -> Found:
    offers = [one for one in case.of(Offered) if one.devices]
    for one, other in combinations(offers, 2):
        shared = set(one.devices) & set(other.devices)
        if shared and one.resource != other.resource:
            yield problem(
                [other, one],
                f"{min(shared)} is offered as {one.resource} and as {other.resource}",
                "give each device to one of them",
            )


policy_sriov = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.ERROR,
    reference="https://github.com/k8snetworkplumbingwg/sriov-network-operator",
    check=_check,
)
