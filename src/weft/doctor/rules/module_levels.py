"""An optical module or cable reports light, current or heat outside of its own limits.

What it checks: what modules report of themselves (received and sent light, laser current, heat,
voltage) against the limits that they hold; ports that are known to have no link are left alone.
Why it matters: too little light is repaired by error correction until it is not; the link then
errs, retrains or is lost, under load first.
What to do: received light low on one lane: clean or replace fibre and connector; on all lanes,
or sent light low: the module at that end; hot: airflow. Then look whether counters still rise.
References: CMIS and SFF-8636 (alarm and warning flags); ethtool(8), -m; mlxlink -m.
"""

from collections.abc import Iterator

from weft.doctor.rule import Facts, Finding, Rule, Severity, Suspect, suspected
from weft.observe.facts.adapters import ModuleReading
from weft.observe.facts.interfaces import Interface

_WHY = {
    "rx_power": "too little or too much light arrives (fibre, connector, or the other end)",
    "tx_power": "its laser sends too little or too much light",
    "bias": "its laser draws too little or too much current",
    "temperature": "it is too hot or too cold",
    "voltage": "its supply is outside of its limits",
}
_ORDER = tuple(_WHY)
"""What says most of a link first."""


def _check(facts: Facts) -> Iterator[Finding]:
    dark = {
        (one.host, one.interface) for one in facts.of(Interface)
        if one.carrier is False or one.up is False
    }  # fmt: skip
    seen = sorted(
        (one for one in facts.of(ModuleReading)
         if one.alarm and one.name in _WHY and (one.host, one.interface) not in dark),
        key=lambda one: _ORDER.index(one.name),
    )  # fmt: skip
    if not seen:
        return
    first = seen[0]
    lanes = sorted({one.lane for one in seen if one.name == first.name and one.lane})
    where = f" (lane {', '.join(map(str, lanes))})" if lanes else ""
    ports = dict.fromkeys(f"{one.host} {one.interface}".strip() for one in seen)
    yield suspected(
        [
            Suspect(
                cause="ib-link-errors",
                confidence_ratio=0.45,
                question="do the error counters of this port rise?",
                next_command="ethtool -S <interface> | grep -e err -e crc; "
                "mlxlink -d <adapter> -m -c   # twice, a minute apart",
            )
        ],
        seen,
        severity=Severity.WARNING,
        subject=", ".join([one for one in ports if one][:4]),
        message=f"a module reports a level outside of its limits: {_WHY[first.name]}{where}",
        advice="clean and reseat both ends, then exchange fibre and module one at a time",
    )


module_levels = Rule(causes=("ib-link-errors",), check=_check)
