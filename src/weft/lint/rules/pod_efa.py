"""A pod of AWS has no EFA devices, fewer than its like, or asks for them by a wrong name.

What it checks: resources of vpc.amazonaws.com; pods with as many GPUs as others: the number of
EFA devices that most of them have.
Why it matters: without EFA NCCL goes over TCP; with some of the devices, over a part of the
bandwidth.
What to do: ask for vpc.amazonaws.com/efa, all of the instance: 32 of a p5.48xlarge.
References: AWS, EFA on EKS.
"""

from collections import Counter
from typing import Final

from weft.lint.document import whole
from weft.lint.facts import Container
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_EFA: Final = "vpc.amazonaws.com/efa"
_KNOWN: Final = frozenset(
    {_EFA, "vpc.amazonaws.com/pod-eni", "vpc.amazonaws.com/PrivateIPv4Address"}
)
_SEVERAL: Final = 3


def _check(case: Case) -> Found:
    by_gpus: dict[int, list[tuple[Container, int]]] = {}
    for one in case.of(Container):
        limits = dict(one.limits)
        for name in limits:
            if name.startswith("vpc.amazonaws.com/") and name not in _KNOWN:
                yield problem(
                    one,
                    f"{one.device} asks for {name}, which no plug-in of AWS offers",
                    f"ask for {_EFA}",
                    severity=Severity.ERROR,
                )
        gpus = whole(limits.get("nvidia.com/gpu", ""))
        if gpus:
            by_gpus.setdefault(gpus, []).append((one, whole(limits.get(_EFA, "")) or 0))
    for gpus, found in by_gpus.items():
        counts = Counter(count for _, count in found)
        usual, often = counts.most_common(1)[0]
        if not usual or often < _SEVERAL or often * 2 <= len(found):
            continue
        shown = next(one for one, count in found if count == usual)
        for one, count in found:
            if count < usual:
                yield problem(
                    [one, shown],
                    f"{one.device} has {gpus} GPUs and {count or 'no'} EFA devices, others "
                    f"{usual}",
                    f"ask for {usual}",
                )


pod_efa = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.WARNING,
    reference="https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html",
    check=_check,
)
