"""A pod names a network of another namespace.

What it checks: the namespace of the networks of a pod: its own, or the one before the slash.
Why it matters: Multus looks in the pod's own namespace: the pod stays in ContainerCreating.
What to do: write namespace/name, or put the network where the pods are.
References: Multus, network selection annotation.
"""

from weft.lint.facts import Network, Workload
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    spaces: dict[str, set[str]] = {}
    for one in case.of(Network):
        spaces.setdefault(one.name, set()).add(one.namespace or "default")
    for pod in case.of(Workload):
        for name in pod.networks:
            space, _, base = name.rpartition("/")
            known = spaces.get(base, set())
            if space and known and space not in known:
                yield problem(
                    pod,
                    f"{pod.device}: network {base} is in {', '.join(sorted(known))}, "
                    f"not in {space}",
                    "correct the namespace",
                )


pod_network_namespace = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.ERROR,
    reference="https://github.com/k8snetworkplumbingwg/multus-cni",
    check=_check,
)
