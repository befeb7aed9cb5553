"""In pods that run already, through kubectl exec."""

import re

from weft.bench.command import Command
from weft.bench.launcher import Launcher
from weft.errors import SpecError

_LABEL = r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?"
_POD = re.compile(
    rf"(?:(?P<namespace>{_LABEL})/)?(?P<pod>{_LABEL})(?::(?P<container>{_LABEL}))?"
)


def _on(host: str, command: Command) -> tuple[str, ...]:
    found = _POD.fullmatch(host)
    if not found:
        raise SpecError(f"{host!r} is no pod: [namespace/]pod[:container], as Kubernetes names")
    namespace = ("--namespace", found["namespace"]) if found["namespace"] else ()
    container = ("--container", found["container"]) if found["container"] else ()
    return (
        "kubectl", "exec", *namespace, found["pod"], *container, "--", *command.through_env()
    )  # fmt: skip


kubectl = Launcher(title="in pods, through kubectl exec", takes="[namespace/]pod[:container]",
                   on=_on, needs_master=True)  # fmt: skip
