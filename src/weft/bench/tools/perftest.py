"""perftest: ib_write_bw and its like between two hosts.

It measures one size or all from 2 bytes to 8 MiB; of these the ones asked for are kept.
"""

from weft.bench.command import Command
from weft.bench.tool import Ask, Process, Tool, pair

_OPERATIONS = frozenset({
    "write_bw", "read_bw", "send_bw", "write_lat", "read_lat", "send_lat",
})  # fmt: skip


def _processes(ask: Ask) -> tuple[Process, ...]:
    server, client = pair(ask, "perftest")
    sweep = () if ask.largest_bytes == ask.smallest_bytes else ("-a",)
    one = () if sweep else ("-s", f"{ask.largest_bytes}")
    rate = ("--report_gbits",) if ask.operation.endswith("_bw") else ()
    queues = ("-q", f"{ask.streams}") if ask.streams > 1 else ()
    many = ("-n", f"{ask.iterations}") if ask.iterations else ()
    words = (f"ib_{ask.operation}", *sweep, *one, *many, *rate, *queues, "-F", *ask.options)
    return (
        Process(command=Command(words=words, env=ask.env), host=server, serves=True),
        Process(command=Command(words=(*words, ask.first), env=ask.env), host=client,
                answers=True),
    )  # fmt: skip


def _version(ask: Ask) -> Command:
    return Command(words=(f"ib_{ask.operation}", "--version"))


perftest = Tool(
    title="perftest", program="ib_write_bw", processes=_processes, version=_version,
    operations=_OPERATIONS,
    takes=frozenset({"smallest_bytes", "largest_bytes", "iterations", "streams", "master"}),
)  # fmt: skip
