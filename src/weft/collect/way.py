"""The ways to a host: a command that runs the script it is given on standard input.

No shell of ours ever reads the words that reach a host over ssh, or in a pod.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from weft import plugins
from weft.collect.children import READS
from weft.errors import SpecError, UnknownName

SHELL: Final = (*READS, "-", "held")
"""Reads the script from standard input and writes the archive to standard output.

It ends with what it started when standard input ends.
"""
_HOST: Final = re.compile(r"(?:[A-Za-z0-9_][\w.-]{0,62}@)?[A-Za-z0-9\[][\w.:\[\]-]{0,252}")
_LABEL: Final = r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?"
_POD: Final = re.compile(
    rf"(?:(?P<namespace>{_LABEL})/)?(?P<pod>{_LABEL})(?::(?P<container>{_LABEL}))?"
)
# The keys and the configuration that the user has; nothing is asked for on the way.
_QUIETLY: Final = ("-o", "BatchMode=yes", "-o", "ConnectTimeout=10")


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How the script reaches a host; the words of the command go to no shell of ours."""

    title: str
    takes: str
    """What is named on the command line."""
    words: Callable[[str], tuple[str, ...]]


def host_name(text: str) -> str:
    """Return a name or address as it is; refuse what could be taken for an option.

    >>> host_name("root@node-1")
    'root@node-1'
    """
    if not _HOST.fullmatch(text):
        raise SpecError(
            f"{text!r} is no host: [user@]name or address, of letters, digits and . _ - :"
        )
    return text


def over_ssh(host: str, words: Sequence[str], *options: str) -> tuple[str, ...]:
    """Return the words that run others on a host; its shell gets each of them quoted.

    >>> over_ssh("node-1", ["echo", "a b"])[-2:]
    ('node-1', "echo 'a b'")
    """
    return ("ssh", *options, *_QUIETLY, "--", host_name(host), shlex.join(words))


def in_pod(pod: str, words: Sequence[str], *options: str) -> tuple[str, ...]:
    """Return the words that run others in ``[namespace/]pod[:container]``.

    >>> in_pod("training/worker-0", ["date"])
    ('kubectl', 'exec', '--namespace', 'training', 'worker-0', '--', 'date')
    """
    found = _POD.fullmatch(pod)
    if not found:
        raise SpecError(f"{pod!r} is no pod: [namespace/]pod[:container], as Kubernetes names")
    namespace = ("--namespace", found["namespace"]) if found["namespace"] else ()
    container = ("--container", found["container"]) if found["container"] else ()
    return ("kubectl", "exec", *options, *namespace, found["pod"], *container, "--", *words)


WAYS: Final = {
    "kubectl": Way(  # what the job's own container sees
        title="in a pod, through kubectl exec",
        takes="[namespace/]pod[:container]",
        words=lambda pod: in_pod(pod, SHELL, "--stdin"),
    ),
    "local": Way(title="this host", takes="nothing", words=lambda _: SHELL),
    "ssh": Way(title="over ssh", takes="[user@]host", words=lambda host: over_ssh(host, SHELL)),
}


def find(name: str) -> Way:
    """Return a way by name."""
    if name not in WAYS:
        raise UnknownName(plugins.unknown("way", name, [*WAYS]))
    return WAYS[name]
