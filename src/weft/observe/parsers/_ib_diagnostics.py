"""What the InfiniBand diagnostics say when a query fails: no manager, no route.

``saquery``, ``ibtracert``, ``ibroute``, ``smpquery`` and their relatives.
"""

import errno
import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.programs import Message
from weft.observe.facts.subnet import SubnetManager
from weft.observe.facts.verbs import CallFailed
from weft.observe.patterns import Line

_NO_MANAGER = re.compile(
    r"No SM/SA found on port|Query SA failed: (?:Connection timed out|Resource temporarily|"
    r"No such device)|Failed to query SA:ClassPortInfo|umad_recv failed: attr 0x\w+: "
    r"Connection timed out|can't resolve sm port"
)
_LATE = re.compile(
    r"umad \(DR path .{3,160}\) bad status 110; Connection timed out|"
    r"_do_madrpc failed; dport \(.{3,160}\)"
)
_NO_ROUTE = re.compile(
    r"(?:ibwarn|iberror|ibtracert|ibroute|smpquery).{0,60}?(?P<text>can't (?:find a "
    r"(?:multicast )?route|reach (?:to/from ports|node|port|target lid))|"
    r"no route found after \d+ hops|Bad (?:out )?port state found)"
)


_NO_ANSWER_OF_MANAGER = re.compile(r"sminfo: iberror: failed: query")
_NO_RECORD = re.compile(r"Query result returned 0x0?300\b.{0,40}")
_PORT_IN_STATE = re.compile(
    r"Bad (?:out )?port state found: node \"(?P<node>[^\"]{1,80})\" (?:out|in)?port "
    r"(?P<port>\d{1,3}) state 1\b"
)
"""A port on the way that is down; those in other states wait for the subnet manager."""


def _port_down(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="infiniband-diags", level="error",
            text=f"{found['node']} port {found['port']} is down", evidence=line.evidence,
        ),
    )  # fmt: skip


def _no_record(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="infiniband-diags", level="warning", text=found[0], evidence=line.evidence
        ),
    )


def _no_manager(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (SubnetManager(state="none", host=line.host, evidence=line.evidence),)


def _no_route(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        CallFailed(
            call="resolve path", errno=errno.EHOSTUNREACH, error=found["text"],
            library="infiniband-diags", evidence=line.evidence,
        ),
    )  # fmt: skip


def _late(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="infiniband-diags", level="warning", text=found[0], evidence=line.evidence
        ),
    )


SORTS = (
    (_LATE, _late),
    (_NO_MANAGER, _no_manager),
    (_NO_ANSWER_OF_MANAGER, _no_manager),
    (_PORT_IN_STATE, _port_down),
    (_NO_ROUTE, _no_route),
    (_NO_RECORD, _no_record),
)
"""Sentences and what they state, for the reader of programs that use RDMA."""
MARKS = (
    "umad (DR path", "_do_madrpc",
    "SM/SA", "SA failed", "query SA", "umad_recv", "sm port", "a route", "can't reach",
    "no route found", "port state found", "failed: query", "Query result",
)  # fmt: skip
