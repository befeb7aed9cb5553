"""iperf3: what TCP carries between two hosts, second by second."""

from weft.bench.command import Command
from weft.bench.tool import Ask, Process, Tool, pair


def _processes(ask: Ask) -> tuple[Process, ...]:
    server, client = pair(ask, "iperf3")
    listen = ("iperf3", "--server", "--one-off")
    words = (
        "iperf3", "--client", ask.first, "--json", "--time", f"{ask.seconds:g}",
        "--parallel", f"{ask.streams}", *ask.options,
    )  # fmt: skip
    return (
        Process(command=Command(words=listen, env=ask.env), host=server, serves=True),
        Process(command=Command(words=words, env=ask.env), host=client, answers=True),
    )


iperf3 = Tool(
    title="iperf3", program="iperf3", processes=_processes,
    operations=frozenset({"tcp"}), takes=frozenset({"master", "seconds", "streams"}),
)  # fmt: skip
