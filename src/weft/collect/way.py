"""What a way to a host is: a command that runs the script it is given on standard input."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from weft import plugins
from weft.collect.children import READS
from weft.collect.reach import in_pod, over_ssh
from weft.errors import UnknownName

SHELL: Final = (*READS, "-", "held")
"""Reads the script from standard input and writes the archive to standard output.

It ends with what it started when standard input ends.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How the script reaches a host; the words of the command go to no shell of ours."""

    title: str
    takes: str
    """What is named on the command line."""
    words: Callable[[str], tuple[str, ...]]


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
