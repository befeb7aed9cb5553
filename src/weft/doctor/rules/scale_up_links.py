"""A GPU has no live NVLink although its product has an NVSwitch, or lost some links.

What it checks: GPUs whose links are all inactive, on products that come with NVLink to a
switch; GPUs with fewer live links than their fellows. PCIe cards without a bridge have none:
silence. Why it matters: the host drops out of the NVLink domain: its ranks meet through the
network. What to do: drain the host; reset the GPUs and the fabric manager; else repair.
References: nvidia-smi nvlink; NVIDIA Fabric Manager user guide.
"""

import re
from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import LIKELY_RATIO, Facts, Finding, Rule, Severity, finding, suspect
from weft.observe.facts.communicators import CommunicatorShape
from weft.observe.facts.gpus import GpuLink, GpuLinkErrors, GpuSeen
from weft.observe.facts.pci import Distance, PciDevice

_WITH_SWITCH = re.compile(
    r"sxm|hgx|gb[23]00|nvl72|hbm3|\bh(200|20|800)\b|\bb[23]00\b|instinct|\bmi[23]\d\d"
)
_WITHOUT_SWITCH = re.compile(
    r"pcie|\bnvl\b|geforce|rtx|quadro|titan|[vp]100|gb10\b|\b(l4|l40s?|a40|a10g?|a30|a2|t4)\b"
)
_JOINED = ("NV", "XGMI", "OK")
_NEVER = frozenset({"CNS", "GNS", "TNS"})
"""Peer access that chip set, GPU or topology never had: no fault."""
_MANY_ERRORS = 1000
_SEVERAL = 3
_LOOK = (
    "nvidia-smi nvlink -s; nvidia-smi -q | grep -A4 Fabric; systemctl status "
    "nvidia-fabricmanager"
)


def _check(facts: Facts) -> Iterator[Finding]:
    dark = [
        one
        for one in facts.of(GpuLink)
        if one.link is None and not one.active and one.supported
    ]
    live = {one.gpu for one in facts.of(GpuLink) if one.active}
    names = {one.gpu: one.gpu_name for one in facts.of(GpuLink) if one.gpu_name}
    cards = [one.name for one in facts.of(PciDevice) if "nvidia" in one.name.lower()]
    seen = [one.name for one in facts.of(GpuSeen)]
    products = " ".join([*names.values(), *(seen or cards)]).lower()
    for one in dark:
        product = (one.gpu_name or names.get(one.gpu, "") or products).lower()
        joined = has_switch(product) or ("sxm" in product and bool(live - {one.gpu}))
        if joined and _has_fellows(facts, one):
            yield _inactive([one], one.gpu, 0.9 if live else 0.75)
    if not dark:
        yield from _fewer(facts, products)
        yield from _all_off(facts, names, products)
    yield from _split(facts, dark)
    yield from _erring(facts)
    yield from _said(facts)
    if not dark:
        yield from _apart(facts)


def _all_off(facts: Facts, names: dict[str, str], products: str) -> Iterator[Finding]:
    """Find GPUs of which every link that a tool lists is off, one by one."""
    off: dict[tuple[str, str], list[GpuLink]] = {}
    for one in facts.of(GpuLink):
        if one.link is not None:
            off.setdefault((one.host, one.gpu), []).append(one)
    off = {key: links for key, links in off.items() if not any(one.active for one in links)}
    product = " ".join([*(names.get(gpu, "") for _, gpu in off), products]).lower().strip()
    sure = has_switch(product)
    if not off or (product and not sure):
        return
    listed = [one for links in off.values() for one in links]
    yield finding(
        "nvlink-links-inactive",
        listed,
        0.75 if sure else LIKELY_RATIO,
        severity=Severity.ERROR if sure else Severity.WARNING,
        subject=", ".join(gpu for _, gpu in list(off)[:4]),
        message=f"of {len(off)} GPUs every NVLink that is listed is down",
        advice="reset GPUs and fabric manager; if it stays, repair (cards without a bridge "
        "have no NVLink: nothing to do)",
        next_command=_LOOK,
        missing=() if sure else ("the product: PCIe cards without a bridge have no NVLink",),
        explains=("container-gpu-isolation",),
    )


def _erring(facts: Facts) -> Iterator[Finding]:
    """Find links that had to recover, or that repeat far more than their fellows."""
    counted = [one for one in facts.of(GpuLinkErrors) if one.value > 0]
    bad = [
        one for one in counted
        if one.counter == "down" or "recovery" in one.counter.lower()
        or one.value >= _MANY_ERRORS
    ]  # fmt: skip
    if bad:
        places = dict.fromkeys(f"GPU {one.gpu} link {one.link}" for one in bad)
        yield finding(
            "nvlink-error",
            bad,
            0.65,
            severity=Severity.WARNING,
            subject=", ".join(list(places)[:4]),
            message="an NVLink recovers or repeats again and again",
            advice="look whether the counters rise under load; reset the GPUs, then replace",
            next_command="nvidia-smi nvlink -e; dmesg -T | grep -i -e Xid -e SXid",
            missing=("the same counters later: only their rise says that it is now",),
        )


def _apart(facts: Facts) -> Iterator[Finding]:
    """Find a GPU that the matrix joins to none of its fellows, which are all joined."""
    hosts: dict[str, dict[tuple[str, str], Distance]] = {}
    for one in facts.of(Distance):
        if one.source.startswith("GPU") and one.target.startswith("GPU"):
            hosts.setdefault(one.host, {})[one.source, one.target] = one
    for cells in hosts.values():
        names = sorted({source for source, _ in cells})
        joined = {name for ends, one in cells.items() if one.connection.startswith(_JOINED)
                  for name in ends}  # fmt: skip
        lone = [name for name in names if name not in joined]
        rest = [name for name in names if name not in lone]
        whole = len(rest) >= _SEVERAL and all(
            cells[a, b].connection.startswith(_JOINED)
            for a in rest for b in rest if a != b and (a, b) in cells
        )  # fmt: skip
        seen = [one for (source, _), one in cells.items() if source in lone]
        never = any(one.connection in _NEVER for one in seen)
        if lone and whole and len(lone) < len(rest) and not never:
            yield finding(
                "nvlink-links-inactive",
                seen,
                0.75,
                subject=", ".join(lone),
                message=f"{', '.join(lone)} is joined to none of the GPUs that are all joined",
                advice="drain the host; reset GPUs and fabric manager; if it stays, repair",
                next_command=_LOOK,
                explains=("container-gpu-isolation",),
            )


def _said(facts: Facts) -> Iterator[Finding]:
    """Find what the library, or a health check, says of links by itself."""
    inactive = job.said(facts, r"nvlinks? inactive|inactive nvlink|nvlinkstatusinactive|"
                               r"only \d+ nvlinks are up out of|nvlink threshold violated|"
                               r"no gpus report active nvlink|"
                               r"no gpu pairs report nvlink")  # fmt: skip
    refused = job.said(facts, r"p2p is disabled between nvlink connected gpus|"
                              r"unsuccessfully (written|wrote) .{0,40}over nvlink")  # fmt: skip
    poorly = job.said(facts, r"fabric health: ")
    if poorly:
        yield finding(
            "nvlink-error",
            poorly,
            0.6,
            severity=Severity.WARNING,
            message="the driver says that a GPU's place in its NVLink fabric is not healthy",
            advice="look at the switches of the fabric and its manager; reset the GPUs",
            next_command="nvidia-smi -q | grep -A12 Fabric; nvidia-smi nvlink -s",
        )
    if inactive:
        yield finding(
            "nvlink-links-inactive",
            inactive,
            0.75,
            severity=Severity.ERROR if facts.any_of(GpuSeen) else Severity.WARNING,
            message="a health check finds NVLinks that should be active and are not",
            advice="drain the host; reset GPUs and fabric manager; if it stays, repair",
            next_command=_LOOK,
        )
    if refused:
        yield finding(
            "nvlink-error",
            refused,
            0.75,
            message="GPUs joined by NVLink may not reach one another: hardware is suspected",
            advice="reset the GPUs, look at NVLink errors; NCCL_IGNORE_DISABLED_P2P=1 hides it",
            next_command="nvidia-smi nvlink -s; nvidia-smi nvlink -e; nvidia-smi topo -p2p r",
            suspects=(suspect("nvlink-links-inactive", 0.3, next_command=_LOOK),),
        )


def _has_fellows(facts: Facts, link: GpuLink) -> bool:
    """Return whether the host has other GPUs: of a single one no link need be live.

    A GPU with a number above zero has fellows, listed or not.
    """
    if link.gpu.isdigit() and int(link.gpu) > 0:
        return True
    seen = {str(one.index) for one in facts.of(GpuSeen) if one.host == link.host}
    return len(seen | {one.gpu for one in facts.of(GpuLink) if one.host == link.host}) > 1


def has_switch(product: str) -> bool:
    """Return whether a GPU of this name is joined to its fellows by a switch.

    >>> has_switch("nvidia a100-sxm4-80gb"), has_switch("nvidia h100 pcie")
    (True, False)
    """
    return bool(_WITH_SWITCH.search(product)) and not _WITHOUT_SWITCH.search(product)


def _inactive(seen: list[GpuLink], gpu: str, confidence_ratio: float) -> Finding:
    return finding(
        "nvlink-links-inactive",
        seen,
        confidence_ratio,
        subject=gpu,
        message=f"GPU {gpu} has no live NVLink, and its product is joined to its fellows",
        advice="drain the host; reset GPUs and fabric manager; if it stays, repair",
        next_command=_LOOK,
        explains=("container-gpu-isolation",),
    )


def _split(facts: Facts, dark: list[GpuLink]) -> Iterator[Finding]:
    """Find a host that the library counts as several: some GPU has no link to its fellows."""
    shapes = facts.of(CommunicatorShape)
    local = sorted({one.local_ranks for one in shapes if one.local_ranks})
    whole = sum(local[:2])
    for one in shapes:
        if not (one.ranks and one.hosts and len(local) > 1 and one.ranks % whole == 0):
            continue
        if one.hosts == one.ranks // whole + 1 >= _SEVERAL:
            yield finding(
                "nvlink-links-inactive",
                [*shapes, *dark],
                0.8 if dark else 0.6,
                message=f"{one.ranks} ranks count as {one.hosts} hosts: one host of {whole} "
                f"GPUs is split into {local[0]} and {local[1]}",
                advice="find the host with a GPU without live NVLinks, drain it, reset, repair",
                next_command=_LOOK,
                missing=() if dark else ("nvidia-smi nvlink -s of every host",),
            )
            return


def _fewer(facts: Facts, products: str) -> Iterator[Finding]:
    """Find a GPU with fewer live links than its fellows of the same host."""
    links: dict[tuple[str, str], int] = {}
    for one in facts.of(GpuLink):
        if one.link is not None:
            key = (one.host, one.gpu)
            links[key] = links.get(key, 0) + one.active
    if len(links) == 1 and "sxm" in products:
        yield from _partly_off(facts)
    if not links or not has_switch(products):
        return
    most = max(links.values())
    cut = _cut_off(facts)
    for (host, gpu), count in links.items():
        if count < most and (host, gpu) != cut:
            seen = [
                one for one in facts.of(GpuLink)
                if (one.host, one.gpu) == (host, gpu) and not one.active
            ]  # fmt: skip
            yield finding(
                "nvlink-links-inactive",
                seen or facts.of(GpuLink),
                0.7,
                severity=Severity.ERROR,
                subject=gpu,
                message=f"GPU {gpu} has {count} live NVLinks, its fellows {most}",
                advice="drain the host; reset the GPUs; if it stays, repair",
                next_command=_LOOK,
            )


def _cut_off(facts: Facts) -> tuple[str, str] | None:
    """Return the GPU in whose list the text ends: the rest of its links was cut off."""
    listed: dict[tuple[str, str], list[GpuLink]] = {}
    for one in facts.of(GpuLink):
        if one.link is not None:
            listed.setdefault((one.host, one.gpu), []).append(one)
    if not listed:
        return None
    key, last = list(listed.items())[-1]
    others = [{one.link for one in links} for place, links in listed.items() if place != key]
    seen = [one.link for one in last]
    shorter = all(seen == sorted(links)[: len(seen)] and len(links) > len(seen)
                  for links in map(_numbers, others))  # fmt: skip
    return key if others and shorter and all(one.active for one in last) else None


def _numbers(links: set[int | None]) -> set[int]:
    return {one for one in links if one is not None}


def _partly_off(facts: Facts) -> Iterator[Finding]:
    """Find the one GPU that was asked, of which some links are off and others are not."""
    listed = [one for one in facts.of(GpuLink) if one.link is not None]
    off = [one for one in listed if not one.active]
    if off and len(off) < len(listed):
        yield finding(
            "nvlink-links-inactive",
            off,
            0.55,
            severity=Severity.WARNING,
            subject=off[0].gpu,
            message=f"of the {len(listed)} NVLinks of GPU {off[0].gpu} {len(off)} are down",
            advice="compare with its fellows; drain the host and reset the GPUs",
            next_command=_LOOK,
            missing=("how many links its fellows have (nvidia-smi nvlink -s)",),
        )


scale_up_links = Rule(causes=("nvlink-links-inactive", "nvlink-error"), check=_check)
