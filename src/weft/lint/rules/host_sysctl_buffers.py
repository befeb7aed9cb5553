"""Socket buffers are too small for the rate of the network.

What it checks: net.core.rmem_max and wmem_max, and the maxima of tcp_rmem and tcp_wmem, under
the bandwidth-delay product of a fast link (16 MiB at 100 Gb/s and a millisecond).
Why it matters: TCP cannot fill the link: NCCL over sockets, storage and checkpoints stay at a
few Gb/s a connection.
What to do: 64 MiB or more as maxima; leave the defaults.
References: kernel documentation, ip-sysctl; RFC 7323.
"""

from typing import Final

from weft.lint.document import whole
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_LEAST: Final = 4 << 20


def _check(case: Case) -> Found:
    names = {"net.core.rmem_max", "net.core.wmem_max", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}
    for one in case.options("sysctl", *names):
        most = whole(one.value.split()[-1]) if one.value.split() else None
        if most is not None and most < _LEAST:
            yield problem(one, f"{one.name}: {most} bytes at the most", "allow 64 MiB")


host_sysctl_buffers = Rule(
    layer=Layer.HOSTS,
    severity=Severity.WARNING,
    reference="https://docs.kernel.org/networking/ip-sysctl.html",
    check=_check,
)
