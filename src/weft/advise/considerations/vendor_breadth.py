"""From how many vendors the switches can be bought."""

from weft import catalogue
from weft.advise.case import Case, Row
from weft.advise.consideration import Consideration, Number, Opinion
from weft.advise.wording import joined
from weft.catalogue.devices import Switch


def _vendors(row: Row) -> list[str]:
    kind = row.prediction.cluster.fabric.kind
    devices = catalogue.all_of("switches").values()
    switches = [s for s in devices if isinstance(s, Switch)]
    return sorted({s.vendor for s in switches if kind in s.fabrics and s.vendor})


def _weigh(case: Case) -> Opinion:
    vendors = {row.name: _vendors(row) for row in case.choices}
    most = max(vendors, key=lambda name: len(vendors[name]))
    least = min(vendors, key=lambda name: len(vendors[name]))
    widest = tuple(n for n, v in vendors.items() if len(v) == len(vendors[most]))
    return Opinion(
        favours=() if len(widest) == len(vendors) else widest,
        reason=f"switches for {most} come from {len(vendors[most])} vendors in the catalogue, "
        f"for {least} from {joined(vendors[least]) or 'none'}",
        numbers=tuple(Number(n, len(v), "vendors") for n, v in vendors.items()),
    )


vendor_breadth = Consideration(
    title="vendor breadth",
    weigh=_weigh,
    source="articles C and P (multi-vendor, reuse of tools), E (vendor breadth); the catalogue",
    evidence="counted in the catalogue",
)
