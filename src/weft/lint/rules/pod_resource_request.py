"""A request for devices differs from its limit, or is no whole number.

What it checks: extended resources (GPUs, RDMA devices): limit set, request equal to it or left
out, whole and above 0.
Why it matters: the API server refuses the pod; in a job's template it does so only when the
controller creates the pods.
What to do: set the limit alone.
References: Kubernetes, extended resources.
"""

from weft.lint.document import whole
from weft.lint.facts import Container
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.of(Container):
        limits, requests = dict(one.limits), dict(one.requests)
        pages = [name for name in [*limits, *requests] if name.startswith("hugepages-")]
        if pages and not {"cpu", "memory"} & {*limits, *requests}:
            yield problem(
                one,
                f"{one.device} asks for {pages[0]} and for neither cpu nor memory",
                "ask for memory too: the API server refuses the pod",
            )
        for name in dict.fromkeys([*limits, *requests]):
            if "/" not in name:
                continue
            asked, limit = requests.get(name), limits.get(name)
            if limit is None:
                yield problem(
                    one, f"{one.device} requests {name} without a limit", "set the limit"
                )
            elif asked is not None and asked != limit and "$" not in asked + limit:
                yield problem(
                    one,
                    f"{one.device} requests {asked} {name}, its limit is {limit}",
                    "make them equal",
                )
            elif "$" not in limit and (whole(limit) is None or (whole(limit) or 0) < 0):
                yield problem(one, f"{one.device}: {limit} {name}", "devices are whole")


pod_resource_request = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.ERROR,
    reference="https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/",
    check=_check,
)
