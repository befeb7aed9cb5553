"""From how many vendors the switches can be bought."""

from weft.advise.case import Case, Row
from weft.advise.consideration import Consideration, Number, Opinion
from weft.advise.limits import switch_vendors
from weft.advise.wording import joined


def _vendors(row: Row) -> list[str]:
    return switch_vendors(row.prediction.cluster.fabric.kind)


def _short(case: Case, name: str) -> str:
    return case.candidate(name).short


def _weigh(case: Case) -> Opinion:
    if case.best.prediction.cost.rented:
        return Opinion(favours=(), reason="whoever rents buys no switches")
    vendors = {row.name: _vendors(row) for row in case.choices}
    most = max(vendors, key=lambda name: len(vendors[name]))
    least = min(vendors, key=lambda name: len(vendors[name]))
    widest = tuple(n for n, v in vendors.items() if len(v) == len(vendors[most]))
    return Opinion(
        favours=() if len(widest) == len(vendors) else widest,
        reason=f"{len(vendors[most])} vendors sell switches for {_short(case, most)}; for "
        f"{_short(case, least)} {joined(vendors[least]) or 'none'}",
        numbers=tuple(Number(n, len(v), "vendors") for n, v in vendors.items()),
    )


vendor_breadth = Consideration(
    title="vendor breadth",
    weigh=_weigh,
    source="articles C and P (multi-vendor, reuse of tools), E (vendor breadth); the catalogue",
    evidence="counted in the catalogue",
)
