"""A job meets at a name that no Service and no job has.

What it checks: the rendezvous and master address of torchrun in manifests: the name, and the
part behind the first dot, against the Services and jobs of the same file.
Why it matters: the name does not resolve: every pod waits until its time-out.
What to do: use the name of the headless Service, or JobSet's <set>-<job>-0-0.<set>.
References: Kubernetes, DNS for Services and Pods; JobSet.
"""

from typing import Final

import re2

from weft.lint.facts import Launch, Named, Workload
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_PLACES: Final = ("--rdzv-endpoint", "--rdzv_endpoint", "--master-addr", "--master_addr")
_NAME: Final = re2.compile(r"([a-z][a-z0-9-]*)(?:\.([a-z][a-z0-9-]*)(\..*)?)?(?::\d+)?")
_ADDED: Final = re2.compile(r"-(master|worker|launcher)-\d+$")


def _check(case: Case) -> Found:
    files: dict[str, dict[str, Named]] = {}
    for one in case.of(Named):
        files.setdefault(one.at.text.name, {})[one.name] = one
    pods = {one.device: one for one in case.of(Workload)}
    for launch in case.of(Launch):
        names = files.get(launch.at.text.name, {})
        place = _NAME.fullmatch(_place(launch.words))
        if not names or place is None or launch.device not in pods or place[1] == "localhost":
            continue
        known = [one for one in (place[1], place[2], _ADDED.sub("", place[1])) if one in names]
        stray = place[2] in names and _stray(names[place[2]], place[1], launch.device)
        if not known or stray:
            yield problem(
                [launch, next(iter(names.values()))],
                f"{launch.device} meets at {place[0]}, and nothing here has that name",
                f"use one of: {', '.join(sorted(names))}",
            )


def _stray(owner: Named, host: str, device: str) -> bool:
    """Return whether a host cannot be a pod of its JobSet: they are named by set and job."""
    role = device.partition(" ")[2]
    return (
        owner.kind == "JobSet"
        and owner.device == device.partition(" ")[0]
        and bool(role)
        and not host.startswith(f"{owner.name}-{role}-")
    )


def _place(words: tuple[str, ...]) -> str:
    for number, word in enumerate(words):
        head, equals, value = word.partition("=")
        if head in _PLACES:
            return value if equals else words[number + 1] if number + 1 < len(words) else ""
    return ""


launch_address = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.WARNING,
    reference="https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/",
    check=_check,
)
