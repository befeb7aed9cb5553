"""Hosts or adapters that should be alike run different firmware or drivers.

What it checks: firmware of adapters of one kind, and drivers, over all hosts.
Why it matters: unlike hosts are the commonest cause of slowness nobody can explain: one setting
or one bug on some of them.
What to do: bring all to one version, then measure again.
References: NVIDIA firmware release notes; HGX software compatibility.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.doctor.rule import Facts, Finding, Rule, Severity, finding
from weft.observe.facts.adapters import AdapterSeen
from weft.observe.facts.programs import SoftwareVersion

if TYPE_CHECKING:
    from weft.observe.facts.base import Fact

_DRIVERS = frozenset(
    {"driver", "nvidia", "nvidia driver", "ofed", "mlnx_ofed", "cudadriver", "kernel"}
)


def _check(facts: Facts) -> Iterator[Finding]:
    kinds: dict[str, dict[str, AdapterSeen]] = {}
    for one in facts.of(AdapterSeen):
        if one.firmware and one.kind:
            kinds.setdefault(one.kind, {}).setdefault(one.firmware, one)
    unlike: list[Fact] = [
        one for found in kinds.values() if len(found) > 1 for one in found.values()
    ]
    drivers: dict[str, dict[str, SoftwareVersion]] = {}
    for version in facts.of(SoftwareVersion):
        if version.software.lower() in _DRIVERS and version.process.host:
            drivers.setdefault(version.software.lower(), {}).setdefault(
                version.version, version
            )
    unlike += [one for found in drivers.values() if len(found) > 1 for one in found.values()]
    if unlike:
        yield finding(
            "versions-differ",
            unlike,
            0.5,
            severity=Severity.INFO,
            message="hosts that should be alike run different firmware or drivers",
            advice="bring all to one version, then measure again",
            next_command="ibv_devinfo | grep -e hca_id -e fw_ver; nvidia-smi | head -4 "
            "  # every host",
        )


versions_differ = Rule(causes=("versions-differ",), check=_check)
