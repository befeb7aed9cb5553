"""The slot of the NIC has half its lanes or a lower generation."""

from collections.abc import Iterable

from weft import units
from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.engines.analytic.collective.path import PCIE_BYTES_PER_S
from weft.engines.analytic.collective.tuning import gpu_class
from weft.sources import sourced


def _variants(setting: Setting) -> Iterable[Variant]:
    host = setting.cluster.host
    if not crosses(setting) or host.nics == 0:
        return
    slot = PCIE_BYTES_PER_S.get(gpu_class(host.gpu), 48e9)
    for part, label in ((2, "x8, or one generation lower"), (4, "x4, or two lower")):
        rate = slot / part
        if rate < host.nic_bytes_per_s:
            yield Variant(
                label=f"{label}: {units.show_rate(rate)} a NIC",
                cluster=setting.cluster.with_(host=host.with_(pcie_bytes_per_s=rate)),
            )


pcie_bound = Fault(
    title="PCIe-bound: fewer lanes or a lower generation",
    weight=sourced(1.2, "threads", confidence=1),
    variants=_variants,
    check="LnkSta against LnkCap of every NIC and of the bridges above it",
    command='lspci -vv | grep -E "LnkCap|LnkSta"',
    likeness="Half of the NICs lost has the same plateau; the log says how many are used.",
    shows={"slots": "fewer lanes", "pair_tests": "every pair is slow"},
    causes=frozenset({"pcie-link-degraded"}),
)
