"""A kernel setting costs bandwidth or breaks peer-to-peer traffic.

What it checks: the IOMMU without passthrough, ACS left on for bare metal, NUMA balancing,
forwarding hashes of routers, C-states and governors are not judged.
Why it matters: with the IOMMU translating, or ACS sending peer traffic up to the root, GPU and
NIC no longer talk directly: GPUDirect drops to a fraction or hangs.
What to do: iommu=pt; ACS off on the bridges of bare metal; kernel.numa_balancing 0.
References: NCCL user guide, troubleshooting: PCI access control services; kernel documentation.
"""

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    kernel = {one.name: one for one in case.options("kernel")}
    for name in ("intel_iommu", "amd_iommu", "iommu"):
        one = kernel.get(name)
        through = "iommu" in kernel and kernel["iommu"].value == "pt"
        if one is not None and one.value in {"on", "force", "strict"} and not through:
            yield problem(
                one,
                f"{name}={one.value} without iommu=pt: peer traffic is translated",
                "add iommu=pt",
            )
    for option in case.options("sysctl", "kernel.numa_balancing"):
        if option.value != "0":
            yield problem(
                option, "the kernel moves pages between sockets while NICs read them", "set 0"
            )
    for option in case.options("acs", "control"):
        if option.value.strip("0:").lower() not in {"", "x"}:
            yield problem(option, f"ACS is set to {option.value}", "write 0000 on bare metal")


host_kernel = Rule(
    layer=Layer.HOSTS,
    severity=Severity.WARNING,
    reference="https://docs.kernel.org/admin-guide/sysctl/kernel.html",
    check=_check,
)
