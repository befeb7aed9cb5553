"""P5: latencies that the articles give for InfiniBand, RoCE and TCP."""

from weft.advise.claim import Claim, Evidence, Outcome, Trial, Verdict
from weft.advise.latencies import Published, judge

PUBLISHED = (
    Published("K", "infiniband", 0.5e-6, 1e-6),
    Published("C", "infiniband", 1e-6, 2e-6),
    Published("E", "infiniband", 0.6e-6, 0.8e-6, switches=2),
    Published("K", "roce", 2e-6, 5e-6),
    Published("C", "roce", 3e-6, 5e-6),
    Published("P", "roce", 1.2e-6, 2e-6),
    Published("K", "tcp", 10e-6, 50e-6),
)


MEANING = (
    "weft's are end to end, one way, for a small message: NIC, switches, NIC; figures below a "
    "microsecond are of a switch and its wires, not of a message"
)


def _test(_: Trial) -> Verdict:
    judged = judge(PUBLISHED)
    right = [
        (p.article, p.title) for p, (_, ok, _) in zip(PUBLISHED, judged, strict=True) if ok
    ]
    told = ", ".join(f"{article}'s {fabric}" for article, fabric in right)
    if len(right) == len(judged):
        outcome = Outcome.HOLDS
    else:
        outcome = Outcome.WHEN if right else Outcome.FAILS
    return Verdict(
        outcome=outcome,
        condition=f"it is {told}" if outcome is Outcome.WHEN else "",
        reasons=(
            MEANING,
            *(reason for reason, _, _ in judged),
        ),
        numbers=tuple(number for _, _, number in judged),
        evidence=Evidence.ASSUMED,
    )


p05_latency_figures = Claim(
    point="P5",
    articles=("K", "P", "C", "E"),
    text="InfiniBand 0.5-1 us (K), 1-2 us (C), 0.6-0.8 us over two hops (E); RoCE 2-5 us (K), "
    "3-5 us (C), 1.2-2 us (P); TCP 10-50 us (K)",
    test=_test,
)
