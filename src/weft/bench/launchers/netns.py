"""In a network namespace of this host: links of a laboratory, shaped by tc."""

from weft.bench.command import Command
from weft.bench.launcher import Launcher
from weft.collect.reach import host_name


def _on(host: str, command: Command) -> tuple[str, ...]:
    return ("ip", "netns", "exec", host_name(host), *command.words)


netns = Launcher(
    title="in network namespaces of this host",
    takes="names of namespaces",
    on=_on,
    here=True,
    needs_master=True,
)
