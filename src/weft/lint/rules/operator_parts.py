"""The operator does not install what its networks need, or parts of several releases.

What it checks: a NicClusterPolicy beside networks, pools and resources: Multus and the plug-ins
for networks, nv-ipam for its pools, a device plug-in for resources; versions of its parts.
Why it matters: pods wait for ever for a network or a resource that nobody makes; parts of
several releases are tested by nobody.
What to do: add the part to the policy, all of one release.
References: NVIDIA network operator, NicClusterPolicy.
"""

from collections import Counter
from typing import Final

from weft.lint.facts import AddressPool, Fact, Installed, Network
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_OF_OPERATOR: Final = frozenset({"HostDeviceNetwork", "MacvlanNetwork", "IPoIBNetwork"})
_POOLS: Final = frozenset({"CIDRPool", "IPPool"})
_PLUGINS: Final = frozenset({"sriovDevicePlugin", "rdmaSharedDevicePlugin"})
_PREFIX: Final = "network-operator-v"


def _check(case: Case) -> Found:
    parts = {one.part: one for one in case.of(Installed)}
    if not parts:
        return
    shown = next(iter(parts.values()))
    networks = [one for one in case.of(Network) if one.kind in _OF_OPERATOR]
    pools = [one for one in case.of(AddressPool) if one.kind in _POOLS]
    wanted: tuple[tuple[list[Fact], frozenset[str], str], ...] = (
        ([*networks], frozenset({"multus"}), "multus"),
        ([*networks], frozenset({"cniPlugins"}), "cniPlugins"),
        ([*pools], frozenset({"nvIpam"}), "nvIpam"),
        ([one for one in networks if one.resource], _PLUGINS, "sriovDevicePlugin"),
    )
    for users, any_of, name in wanted:
        if users and not any_of & parts.keys():
            yield problem(
                [shown, users[0]],
                f"{shown.device} installs no {name}, which {users[0].device} needs",
                f"add {name}, unless it is installed otherwise",
            )
    yield from _versions([*parts.values()])


def _versions(parts: list[Installed]) -> Found:
    """Compare the versions of the operator's own images: they carry its release."""
    own = [one for one in parts if one.version.startswith(_PREFIX)]
    counts = Counter(one.version for one in own)
    if len(counts) > 1:
        usual = counts.most_common(1)[0][0]
        odd = next(one for one in own if one.version != usual)
        shown = next(one for one in own if one.version == usual)
        yield problem(
            [odd, shown],
            f"{odd.part} is of {odd.version}, the other parts of {usual}",
            "take all parts of one release",
        )


operator_parts = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/networking/display/kubernetes/customizations/crds.html",
    check=_check,
)
