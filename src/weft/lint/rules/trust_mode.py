"""A port does not believe the label that the traffic carries.

What it checks: NICs and switch ports that trust 802.1p or nothing where traffic is marked by
DSCP (NCCL_IB_TC, cma_roce_tos, a DSCP map) and PFC is on.
Why it matters: routed RoCE carries a DSCP and no VLAN tag: a port that trusts 802.1p puts all
of it into priority 0, unprotected.
What to do: trust DSCP on every NIC and every port.
References: mlnx_qos(8), --trust; NVIDIA Cumulus, RoCE.
"""

from weft.lint.facts import Map, Mapped, Mark, Pause, Side, Trust
from weft.lint.quality import traffic_classes
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    if case.fabric == "infiniband":
        return
    by_dscp = bool(
        list(traffic_classes(case))
        or case.of(Mark)
        or any(one.kind is Map.DSCP_TO_CLASS for one in case.of(Mapped))
    )
    lossless = {one.device for one in case.of(Pause) if one.priorities}
    yield from _unsaid(case, by_dscp=by_dscp)
    for one in case.of(Trust):
        ours = one.side is Side.HOST or one.device in lossless
        if one.mode != "dscp" and by_dscp and ours:
            where = f"{one.device} {one.ports[0] if one.ports else ''}".strip() or "the NIC"
            yield problem(
                one,
                f"{where} trusts {one.mode}, and the traffic is marked by DSCP",
                "trust DSCP",
            )


def _unsaid(case: Case, *, by_dscp: bool) -> Found:
    """NICs trust 802.1p unless they are told otherwise."""
    said = {one.at.text.name for one in case.of(Trust) if one.side is Side.HOST}
    mapped = {
        one.at.text.name: one
        for one in case.of(Mapped)
        if one.side is Side.HOST and one.kind is Map.DSCP_TO_CLASS
    }
    for one in case.of(Pause):
        name = one.at.text.name
        silent = one.side is Side.HOST and name in mapped and name not in said
        if by_dscp and silent and one.priorities:
            yield problem(
                [one, mapped[name]],
                "nothing tells the NICs to trust DSCP: they trust 802.1p, and the map of DSCPs "
                "is not used",
                "add --trust dscp",
            )


trust_mode = Rule(
    layer=Layer.QOS,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/networking/display/mlnxofedv24010331/quality+of+service+(qos)",
    check=_check,
)
