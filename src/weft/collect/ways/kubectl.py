"""In a pod, through kubectl exec: what the job's own container sees."""

import re

from weft.collect.way import SHELL, Way
from weft.errors import SpecError

_LABEL = r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?"
_POD = re.compile(
    rf"(?:(?P<namespace>{_LABEL})/)?(?P<pod>{_LABEL})(?::(?P<container>{_LABEL}))?"
)


def _words(pod: str) -> tuple[str, ...]:
    found = _POD.fullmatch(pod)
    if not found:
        raise SpecError(f"{pod!r} is no pod: [namespace/]pod[:container], as Kubernetes names")
    namespace = ("--namespace", found["namespace"]) if found["namespace"] else ()
    container = ("--container", found["container"]) if found["container"] else ()
    return ("kubectl", "exec", "--stdin", *namespace, found["pod"], *container, "--", *SHELL)


kubectl = Way(
    title="in a pod, through kubectl exec", takes="[namespace/]pod[:container]", words=_words
)
