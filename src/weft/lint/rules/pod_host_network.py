"""A pod uses the host's network in a way that breaks names or attachments.

What it checks: hostNetwork with dnsPolicy other than ClusterFirstWithHostNet, with networks of
Multus, or with several pods of one port on a host.
Why it matters: workers do not resolve one another's names, so the rendezvous fails; Multus does
nothing for such a pod.
What to do: dnsPolicy: ClusterFirstWithHostNet, and no annotation; or no hostNetwork.
References: Kubernetes, DNS for pods; Multus.
"""

from weft.lint.facts import Workload
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.of(Workload):
        if not one.host_network:
            continue
        # What runs on every node serves the node, and needs no names of the cluster.
        own = one.kind == "DaemonSet" or one.dns_policy in {"ClusterFirstWithHostNet", "None"}
        if not own:
            yield problem(
                one,
                f"{one.device} uses the host's network and its DNS",
                "set dnsPolicy: ClusterFirstWithHostNet",
            )
        if one.networks:
            yield problem(
                one,
                f"{one.device} uses the host's network: its attachments do nothing",
                "remove one of the two",
                severity=Severity.ERROR,
            )


pod_host_network = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.WARNING,
    reference="https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/",
    check=_check,
)
