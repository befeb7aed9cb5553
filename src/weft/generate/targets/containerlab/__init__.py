"""containerlab: the fabric in containers, routed as the FRR target routes it."""

from collections.abc import Mapping
from typing import Final

import yaml

from weft.generate.cabling import HOST, Cabling, End, cabling
from weft.generate.plan import Plan
from weft.generate.router import PREFIX, Router, routers, underlay_of
from weft.generate.target import Files, declared, header
from weft.generate.targets.frr import FORWARDING, configuration, daemons, vrf_commands
from weft.generate.template import manifests_of

FRR_IMAGE: Final = "quay.io/frrouting/frr:10.2.1"
HOST_IMAGE: Final = "ghcr.io/srl-labs/network-multitool"
"""Has iproute2: the route over several ports needs it."""


def _files(plan: Plan) -> Files:
    whole, made = cabling(plan), list(routers(plan))
    [lab] = manifests_of(
        "containerlab/fabric.clab.yml.j2", name=plan.names.label.text(), whole=whole,
        commands=_host_commands(plan, whole, {router.name: router for router in made}),
        vrfs={router.name: vrf_commands(router) for router in made},
        end=lambda end: f"{end.device}:{interface_name(end)}",
        forwarding=FORWARDING, host_image=HOST_IMAGE, switch_image=FRR_IMAGE,
    )  # fmt: skip
    first = header(plan, "fabric.clab.yml")
    yield "fabric.clab.yml", f"{first}\n{yaml.safe_dump(lab, sort_keys=False)}"
    yield "daemons", daemons(plan)
    for router in made:
        yield f"{router.name}/frr.conf", configuration(plan, router)


def _host_commands(
    plan: Plan, whole: Cabling, by_name: Mapping[str, Router]
) -> dict[str, list[str]]:
    """Return each host's addresses, and its route to the fabric over each of its ports."""
    pool = underlay_of(plan).pool.text()
    found: dict[str, list[str]] = {d.name: [] for d in whole.devices if d.role == HOST}
    hops: dict[str, list[str]] = {name: [] for name in found}
    for cable in whole.cables:
        if not cable.below.nic:
            continue
        leaf, name = by_name[cable.above.device], cable.below.device
        there = next(h.address for h in leaf.hosts if h.port.number == cable.above.number)
        port = interface_name(cable.below)
        found[name].append(f"ip address add {there + 1}/{PREFIX} dev {port}")
        hops[name].append(f"nexthop via {there} dev {port}")
    for name, ways in hops.items():
        found[name].append(" ".join(["ip route add", pool, *ways]))
    return found


def interface_name(end: End) -> str:
    """Return the Linux interface of a port: ethN of a host, swpN of a switch, from 1."""
    return f"eth{end.number + 1}" if end.nic else f"swp{end.number + 1}"


containerlab = declared("containerlab", files=_files)
