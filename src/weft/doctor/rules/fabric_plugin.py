"""A cloud's fabric plug-in is missing, cannot be loaded, or finds no provider.

What it checks: load errors of the plug-in that name a reason (a missing library or symbol
version), refusals of its provider or of the endpoint, sockets afterwards, and containers that
were started without the devices. That no plug-in is installed is
usual and says nothing.
Why it matters: on EFA there is no other fast network: sockets follow, and a loud line about
the verbs library that misleads.
What to do: install the plug-in built for this image's glibc and CUDA; pass the devices in.
References: aws-ofi-nccl, README and release notes; AWS EFA, verifying the installation.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from weft.doctor import job
from weft.doctor.rule import Facts, Fault, Finding, Rule, Severity, Symptom, finding, suspect
from weft.observe.facts.base import Fact
from weft.observe.facts.hosts import Limit
from weft.observe.facts.transports import (
    AdapterChosen,
    NoProvider,
    NoVerbsLibrary,
    PluginSeen,
    ProviderChosen,
)
from weft.observe.facts.verbs import CallFailed

_LOADER = re.compile(
    r"(GLIBC(XX)?_|version .{1,30} not found|undefined symbol|wrong ELF|"
    r"(libfabric|libcudart|libhwloc|libnl|libefa|libstdc)\S*: cannot open)",
    re.IGNORECASE,
)
_SLOW = re.compile(r"(?:tcp|sockets|udp|net)(?:;|$)", re.IGNORECASE)
_SLINGSHOT = re.compile(r"hsn\d")
"""How Slingshot's interfaces are called [HPE, Slingshot host software]."""
_OPTION = r"net/ofi disabling shared memory failed|net/ofi .{0,60}FI_OPT_\w+.{0,60}fail"
_OLD_LIBRARY = suspect(
    "efa-plugin-not-loaded", 0.3,
    question="is the image's libfabric as new as the plug-in was built for?",
    next_command="fi_info --version; find / -name 'libfabric.so*' 2>/dev/null",
)  # fmt: skip
_FOLLOW = (Symptom.SOCKETS, "container-no-verbs-library", "container-no-rdma-device")


def _check(facts: Facts) -> Iterator[Finding]:
    told = facts.of(NoProvider) or any(one.provider for one in facts.of(ProviderChosen))
    if job.on_one_host(facts) and not told:
        return
    able = _able(facts)
    unloadable = [one for one in _unloadable(facts) if not able or _host(one) not in able]
    if unloadable:
        yield finding(
            "efa-plugin-not-loaded",
            [*unloadable, *job.uses_sockets(facts)],
            0.9 if job.uses_sockets(facts) else 0.8,
            message="the network plug-in is there and cannot be loaded",
            advice="install a build of the plug-in that fits this image (glibc, CUDA, "
            "libfabric)",
            next_command="ldd $(find / -name 'libnccl-net*.so' 2>/dev/null); ldd --version",
            explains=_FOLLOW,
            fault=Fault.SOCKETS,
        )
    slow = _slow_alone(facts)
    asked = any("efa" not in one.value for one in job.settings(facts, "FI_PROVIDER"))
    if slow and not asked:  # what somebody asked for is another matter (environment_misuse)
        offer = f"the plug-in has only {slow[0].provider} to offer: no fabric provider"
        yield _no_provider(facts, slow, 0.8, offer, _FOLLOW)
    yield from _without_plugin(facts)
    if not (able and not _on_another_host(facts)):
        yield from _without_provider(facts)


def _without_provider(facts: Facts) -> Iterator[Finding]:
    """Find a plug-in that has no provider, or one that does not know the fabric's options."""
    absent, refused = _absent(facts), job.said(facts, _OPTION)
    bare = job.containers_without_devices(facts)
    if absent:
        none = "the plug-in finds no fabric provider it can use"
        seen = [*absent, *refused, *bare]
        found = _no_provider(facts, seen, 0.85, none, (*_FOLLOW, Symptom.REGISTRATION))
        idle = (job.hosts(facts) or 1) == 1 and all(map(_is_elsewhere, absent))
        yield replace(found, severity=Severity.WARNING) if idle else found
    elif refused:
        other = "the plug-in's endpoint refuses an option of the fabric: another provider's"
        seen = [*refused, *bare]
        found = _no_provider(facts, seen, 0.75 if bare else 0.55, other, _FOLLOW)
        yield found if bare else replace(found, suspects=(_OLD_LIBRARY,))


def _on_another_host(facts: Facts) -> bool:
    """Return whether one host finds no provider while only others have one."""
    without = {one.process.host for one in facts.of(NoProvider)} - {""}
    having = {one.process.host for one in facts.of(ProviderChosen)}
    having |= {one.process.host for one in facts.of(AdapterChosen)}
    return bool(without) and "" not in having and not without & having


def _is_elsewhere(one: Fact) -> bool:
    """Return whether a plug-in says only that it was made for another machine than this."""
    return "Only EFA provider" in one.evidence.text


def _able(facts: Facts) -> set[str]:
    """Return the hosts whose ranks have a fast network; ``""`` stands for an unnamed one."""
    fast = [one for one in facts.of(ProviderChosen) if not _SLOW.match(one.provider)]
    chosen = [*fast, *job.uses_rdma(facts)]
    hosts = {one.process.host for one in chosen}
    return hosts | {""} if hosts else hosts


def _host(one: Fact) -> str:
    process = getattr(one, "process", None)
    return process.host if process else ""


def _unloadable(facts: Facts) -> list[Fact]:
    """Return what says that a plug-in is there and that the loader refuses it."""
    refused: list[Fact] = [
        one for one in facts.of(PluginSeen)
        if one.role in {"net", "collnet"} and not one.loaded
        and (_LOADER.search(one.reason) or _LOADER.search(one.evidence.text))
    ]  # fmt: skip
    refused += job.said(
        facts,
        r"requires at least libfabric version|net/ofi .{0,120}cannot open shared object",
    )
    refused += [
        one
        for one in job.said(facts, r"GLIBC(XX)?_[\d.]+.{0,3} not found")
        if "net" in one.evidence.text.lower() or "ofi" in one.evidence.text.lower()
    ]
    return refused


def _slow_alone(facts: Facts) -> list[ProviderChosen]:
    """Return the slow providers that were chosen where a fast one was to be had."""
    slow = [one for one in facts.of(ProviderChosen) if _SLOW.match(one.provider)]
    better = [one for one in facts.of(ProviderChosen) if not _SLOW.match(one.provider)]
    plugged = any("OFI" in one.evidence.text for one in slow)
    wanted = plugged or any("efa" in one.value for one in job.settings(facts, "FI_PROVIDER"))
    return slow if wanted and not better and not facts.any_of(NoProvider) else []


def _no_provider(
    facts: Facts, seen: Sequence[Fact], confidence_ratio: float, message: str,
    explains: tuple[str, ...],
) -> Finding:  # fmt: skip
    return finding(
        "efa-provider-missing",
        [*seen, *job.uses_sockets(facts)],
        confidence_ratio,
        message=message,
        advice="pass the EFA devices in (vpc.amazonaws.com/efa), memlock unlimited",
        next_command="fi_info -p efa; ls /dev/infiniband",
        explains=explains,
        fault=Fault.SOCKETS,
    )


def _absent(facts: Facts) -> list[Fact]:
    """Return what says that there is no provider, or that the plug-in gave up wordless."""
    said: list[Fact] = [*facts.of(NoProvider)]
    if not said and not facts.any_of(CallFailed, Limit):
        said = job.said(facts, r"net/ofi .{0,60}(initiali[sz]ation failed|initiali[sz]ing "
                               r"plugin failed)")  # fmt: skip
    return said


def _without_plugin(facts: Facts) -> Iterator[Finding]:
    """Find sockets where the fabric has a provider, or was asked for, and no plug-in is."""
    has_efa = [one for one in facts.of(ProviderChosen) if one.provider.startswith("efa")]
    has_efa = [one for one in has_efa if "NET/OFI" not in one.evidence.text]
    asked: list[Fact] = [
        *[one for one in job.settings(facts, "FI_PROVIDER") if "efa" in one.value],
        *[one for one in job.settings(facts, "NCCL_NET")
          if "libfabric" in one.value.lower() or "ofi" in one.value.lower()],
        *[one for one in job.settings(facts, "NCCL_NET_PLUGIN") if "ofi" in one.value],
    ]  # fmt: skip
    none = [one for one in facts.of(PluginSeen) if one.role == "net" and not one.loaded]
    refused = job.said(
        facts,
        r"failed to initialize any net plugin|network (?:aws )?(?:libfabric|ofi) not found",
    )
    slow: list[Fact] = [*job.uses_sockets(facts), *refused]
    slow += facts.of(NoVerbsLibrary) if asked else []
    loaded = [one for one in facts.of(ProviderChosen) if "NET/OFI" in one.evidence.text]
    asked += _on_slingshot(facts)
    if slow and none and (has_efa or asked) and not loaded and not facts.of(NoProvider):
        yield finding(
            "efa-plugin-not-loaded",
            [*none, *slow, *has_efa, *asked],
            0.8 if has_efa or refused else 0.65,
            message="the fabric has a provider and the library has no plug-in to use it"
            if has_efa
            else "the fabric's network is asked for and the library has no plug-in for it",
            advice="install aws-ofi-nccl in the image, where the loader finds it",
            next_command="find / -name 'libnccl-net*.so' 2>/dev/null; echo $LD_LIBRARY_PATH",
            explains=_FOLLOW,
            fault=Fault.SOCKETS,
        )


def _on_slingshot(facts: Facts) -> list[Fact]:
    """Return interfaces of Slingshot adapters that plain sockets use: a provider has them."""
    used = [
        one for one in facts.of(AdapterChosen)
        if one.port is None and _SLINGSHOT.match(one.adapter)
    ]  # fmt: skip
    return [*used, *job.said(facts, r"NET/Socket ?: Using .{0,80}\bhsn\d")]


fabric_plugin = Rule(causes=("efa-plugin-not-loaded", "efa-provider-missing"), check=_check)
