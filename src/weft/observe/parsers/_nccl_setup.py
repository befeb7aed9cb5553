"""What the library says while it sets up: version, network, adapters, plug-ins, ranks."""

import re
from collections.abc import Sequence

from weft import units
from weft.observe.facts.adapters import LinkTraining
from weft.observe.facts.base import Fact, LinkLayer, PortState
from weft.observe.facts.communicators import (
    ChannelCount,
    CommunicatorRank,
    CommunicatorShape,
    InitTiming,
    RingsConnected,
)
from weft.observe.facts.gpus import ScaleUpFabricState
from weft.observe.facts.programs import Setting, SoftwareVersion
from weft.observe.facts.transports import (
    AdapterChosen,
    BootstrapInterface,
    DmaBufAvailable,
    GpuDirectState,
    NetworkChosen,
    NoRdmaDevice,
    NoVerbsLibrary,
    PluginSeen,
    ProviderChosen,
)
from weft.observe.parser import READ
from weft.observe.parsers._nccl_errors import message
from weft.observe.parsers._nccl_line import Rule, Words, number, rule

_LAYERS = {"IB": LinkLayer.INFINIBAND, "RoCE": LinkLayer.ETHERNET}
_ADAPTER = re.compile(
    r"\[(?P<index>\d+)\](?P<name>[^\s:;\[\]]+):(?P<port>\d+)/(?P<layer>[A-Za-z]+)"
    r"(?P<sharp>/SHARP)?"
)
_INTERFACE = re.compile(r"\[(?P<index>\d+)\](?P<name>[^\s:;\[\]]+):(?P<address>[^\s;]+)")
_PARTS = re.compile(r"([a-z]+) (\d+\.\d+)")
_MEGABIT = 1e-3


def _nothing(found: re.Match[str], words: Words) -> Sequence[Fact]:
    del found, words
    return READ


def _version(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        SoftwareVersion(
            software=found["what"],
            version=found["version"],
            built_for=found["built"] or "",
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _bootstrap(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        BootstrapInterface(
            interface=found["interface"],
            address=found["address"].split("<")[0],
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _network(found: re.Match[str], words: Words) -> Sequence[Fact]:
    name = found["network"].removeprefix("internal Network ").strip().rstrip(".")
    return (NetworkChosen(network=name, process=words.process, evidence=words.evidence),)


def _plugin(found: re.Match[str], words: Words) -> Sequence[Fact]:
    """State a plug-in that was loaded."""
    role = (found.groupdict().get("role") or "net").lower()
    return (
        PluginSeen(
            role=role,
            name=found["name"].strip(),
            loaded=True,
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _no_plugin(found: re.Match[str], words: Words) -> Sequence[Fact]:
    groups = found.groupdict()
    return (
        PluginSeen(
            role=(groups.get("role") or "net").lower(),
            name=groups.get("name") or "",
            loaded=False,
            reason=(groups.get("reason") or "").strip(" ,.:)"),
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _no_device(found: re.Match[str], words: Words) -> Sequence[Fact]:
    del found
    return (NoRdmaDevice(process=words.process, evidence=words.evidence),)


def _no_verbs(found: re.Match[str], words: Words) -> Sequence[Fact]:
    library = found["library"].split(".so")[0]
    return (NoVerbsLibrary(library=library, process=words.process, evidence=words.evidence),)


def _adapters(found: re.Match[str], words: Words) -> Sequence[Fact]:
    """State the adapters of a list, and an empty list as no device at all."""
    listed = found["list"].partition(";")[0]
    chosen = tuple(
        AdapterChosen(
            index=int(one["index"]),
            adapter=one["name"],
            port=int(one["port"]),
            link_layer=_LAYERS.get(one["layer"], LinkLayer.UNKNOWN),
            sharp=bool(one["sharp"]),
            process=words.process,
            evidence=words.evidence,
        )
        for one in _ADAPTER.finditer(listed)
    )
    if not chosen and not listed.replace("[RO]", "").strip():
        return (
            NoRdmaDevice(cause="empty list", process=words.process, evidence=words.evidence),
        )
    return chosen


def _interfaces(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return tuple(
        AdapterChosen(
            index=int(one["index"]),
            adapter=one["name"],
            link_layer=LinkLayer.ETHERNET,
            address=one["address"].split("<")[0],
            process=words.process,
            evidence=words.evidence,
        )
        for one in _INTERFACE.finditer(found["list"])
    )


def _made(found: re.Match[str], words: Words) -> Sequence[Fact]:
    names = tuple(found["name"].split("+"))
    return (
        AdapterChosen(
            index=int(found["index"]),
            adapter=found["name"],
            parts=names if len(names) > 1 else (),
            rate_bytes_per_s=units.rate_from_gbit(int(found["speed"]) * _MEGABIT),
            rail=number(found["rail"]),
            plane=number(found["plane"]),
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _speed_changed(found: re.Match[str], words: Words) -> Sequence[Fact]:
    """State a port that has become slower while the job ran; a faster one says nothing."""
    before, now = int(found["before"]), int(found["now"])
    if not 0 < now < before:
        return READ
    return (
        LinkTraining(
            where=found["name"], port=int(found["port"]), state=PortState.ACTIVE,
            lane_bytes_per_s_supported=units.rate_from_gbit(before * _MEGABIT),
            lane_bytes_per_s_active=units.rate_from_gbit(now * _MEGABIT),
            host=words.process.host, evidence=words.evidence,
        ),
    )  # fmt: skip


def _detail(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        AdapterChosen(
            index=int(found["index"]),
            adapter=found["name"],
            port=int(found["port"]),
            link_layer=_LAYERS.get(found["layer"], LinkLayer.UNKNOWN),
            rate_bytes_per_s=units.rate_from_gbit(int(found["speed"]) * _MEGABIT),
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _gpudirect(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        GpuDirectState(
            enabled=found["state"] == "Enabled",
            network=found["network"],
            adapter=found["adapter"] or "",
            index=number(found["index"]),
            reason=(found["reason"] or "").strip(" ()"),
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _gpudirect_off(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        GpuDirectState(
            enabled=False,
            network="OFI",
            reason=found["reason"],
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _dma_buf(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        DmaBufAvailable(
            gpu=number(found["gpu"]), process=words.process, evidence=words.evidence
        ),
    )


def _setting(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        Setting(
            name=found["name"],
            value=found["value"].strip().rstrip(".").strip('"'),
            origin="file" if "conf" in (found["by"] or "") else "environment",
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _forced(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        Setting(
            name=found["name"],
            value=found["value"].strip(' "'),
            origin="program",
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _rank(found: re.Match[str], words: Words) -> Sequence[Fact]:
    gpu = number(found["nvml"]) if found["nvml"] else number(found["gpu"])
    return (
        CommunicatorRank(
            rank=int(found["rank"]),
            ranks=int(found["ranks"]),
            communicator=found["id"] or "",
            gpu=gpu,
            bus_id=found["bus"] or "",
            complete=found["end"] == "COMPLETE",
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _shape(found: re.Match[str], words: Words) -> Sequence[Fact]:
    mnnvl = found["mnnvl"]
    return (
        CommunicatorShape(
            ranks=number(found["ranks"]),
            hosts=number(found["hosts"]),
            local_ranks=number(found["local"]),
            rank=number(found["rank"]),
            local_rank=number(found["local_rank"]),
            multi_host_scale_up=mnnvl == "1" if mnnvl else None,
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _joined(found: re.Match[str], words: Words) -> Sequence[Fact]:
    """State that NVLink joins ranks of several hosts, which the library then counts on."""
    return (
        CommunicatorShape(
            multi_host_scale_up=found["mnnvl"] == "1",
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _said(found: re.Match[str], words: Words) -> Sequence[Fact]:
    del found
    return (message(words),)


def _noted(found: re.Match[str], words: Words) -> Sequence[Fact]:
    """State what the library notes and goes on from: alone it is no fault."""
    del found
    return (message(words, "info"),)


def _local_ranks(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        CommunicatorShape(
            local_ranks=int(found["local"]), process=words.process, evidence=words.evidence
        ),
    )


def _timing(found: re.Match[str], words: Words) -> Sequence[Fact]:
    parts = tuple((one[1], float(one[2])) for one in _PARTS.finditer(found["parts"] or ""))
    return (
        InitTiming(
            total_s=float(found["total"]),
            part_s=parts,
            rank=number(found["rank"]),
            ranks=number(found["ranks"]),
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _counts(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        ChannelCount(
            collective=int(found["coll"]),
            collnet=number(found["collnet"]) or 0,
            nvls=number(found["nvls"]) or 0,
            point_to_point=number(found["p2p"]) or 0,
            per_peer=number(found["peer"]),
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _connected(found: re.Match[str], words: Words) -> Sequence[Fact]:
    pxn, gdr = found["pxn"], found["gdr"]
    return (
        RingsConnected(
            what=found["what"],
            via_peer_gpu=pxn == "1" if pxn else None,
            gpudirect=gdr == "1" if gdr else None,
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _fabric(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        ScaleUpFabricState(
            cluster_uuid=found["uuid"],
            clique=found["clique"],
            state=found["state"],
            gpu=found["bus"],
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _provider(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        ProviderChosen(
            provider=found["provider"].strip(),
            fabric=found["fabric"] or "",
            adapters=number(found["count"]),
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _ofi_version(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        SoftwareVersion(
            software="aws-ofi-nccl",
            version=found["version"],
            process=words.process,
            evidence=words.evidence,
        ),
    )


_ADDRESS = r"(?P<interface>[^\s:]+):(?P<address>\S+)"
_LOADED = r"(?P<name>\S+)(?: \(v\d+\))?"
SETUP: dict[str, tuple[Rule, ...]] = {
    "Topology": (rule(r"Topology detection ?: could not read \S+/max_link_speed", _noted),),
    "NCCL": (
        rule(r"(?P<what>NCCL) version (?P<version>[\d.]+\w*)(?:\+(?P<built>\S+))?", _version),
        rule(r"NCCL git version", _nothing),
    ),
    "RCCL": (
        rule(
            r"(?P<what>RCCL) version *:? *(?P<version>[\d.]+\w*)(?:\+(?P<built>\S+))?", _version
        ),
    ),
    "cudaDriverVersion": (
        rule(r"(?P<what>cudaDriver)Version (?P<version>\d+)(?P<built>)", _version),
    ),
    "HIP": (rule(r"(?P<what>HIP) version\s*:\s*(?P<version>\S+)(?P<built>)", _version),),
    "ROCm": (rule(r"(?P<what>ROCm) version\s*:\s*(?P<version>\S+)(?P<built>)", _version),),
    "Kernel": (rule(r"(?P<what>Kernel) version: *(?P<version>\S+)(?P<built>)", _version),),
    "Bootstrap": (
        rule(rf"Bootstrap ?: Using (?:\[0\])?{_ADDRESS}", _bootstrap),
        rule(
            r"Bootstrap timings? total (?P<total>[\d.]+)(?P<parts> \(.*)?(?P<rank>)(?P<ranks>)",
            _timing,
        ),
    ),
    "Bootstrap:": (rule(rf"Bootstrap ?: Using (?:\[0\])?{_ADDRESS}", _bootstrap),),
    "Using": (
        rule(r"Using network (?P<network>\S.*)", _network),
        rule(r"Using (?P<network>internal Network \S.*)", _network),
        rule(r"Using aws-ofi-nccl (?P<version>\S+)", _ofi_version),
        rule(r"Using (?:non-device|transport|\d+ threads|CUDA|user|internal|tuner)", _nothing),
    ),
    "Initialized": (rule(rf"Initialized (?P<role>\w+) plugin {_LOADED}", _plugin),),
    "Assigned": (rule(rf"Assigned (?P<role>\w+) plugin {_LOADED} to comm", _plugin),),
    "Successfully": (
        rule(r"Successfully loaded external (?:\w+ )?plugin (?P<name>\S+)", _plugin),
    ),
    "P2P": (
        rule(rf"P2P plugin(?: v\d+)? {_LOADED}", _plugin),
        rule(r"P2P (?:Chunksize|is|level)", _nothing),
    ),
    "Plugin": (
        rule(r"Plugin Path ?: (?P<name>\S*libr?nccl-net\S*)", _plugin),
        rule(r"Plugin (?:Path|name|load)", _nothing),
    ),
    "Loaded": (rule(rf"Loaded (?P<role>\w+) plugin {_LOADED}", _plugin),),
    "Failed": (
        rule(r"Failed to open (?P<library>libibverbs\S*)", _no_verbs),
        rule(
            r"Failed to initialize (?P<role>\w+) plugin (?P<name>\S+)(?P<reason>.*)", _no_plugin
        ),
        rule(
            r"Failed to find (?:symbol )?nccl(?P<role>Net|CollNet|Tuner|Profiler)\w*Plugin\w*",
            _no_plugin,
        ),
    ),
    "Could": (rule(r"Could not open XML (?:topology|graph) file \S+ ?: \S.*", _said),),
    "Unable": (rule(r"Unable to load (?P<name>lib\S+)(?P<reason>.*)", _no_plugin),),
    "No": (rule(r"No [Pp]lugin found \((?P<name>[^)]*)\)", _no_plugin),),
    "ncclOsDlopen": (rule(r"ncclOsDlopen", _nothing),),
    "DMA-BUF": (rule(r"DMA-BUF is available on GPU device (?P<gpu>-?\d+)", _dma_buf),),
    "comm": (
        rule(
            r"comm \S+ rank (?P<rank>\d+) nRanks (?P<ranks>\d+)(?: nNodes (?P<hosts>\d+))?"
            r"(?: localRanks (?P<local>\d+))?(?: localRank (?P<local_rank>\d+))?"
            r"(?: MNNVL (?P<mnnvl>\d))?",
            _shape,
        ),
        rule(
            r"comm \S+ rank (?P<rank>\d+) (?:nranks|nRanks) (?P<ranks>\d+) cudaDev (?P<gpu>\d+)"
            r"(?: nvmlDev (?P<nvml>\d+))?(?: busId (?P<bus>\w+))?(?: commId (?P<id>\w+))?"
            r"(?:.* - Init (?P<end>START|COMPLETE))?",
            _rank,
        ),
        rule(r"comm \S+ ", _nothing),
    ),
    "nRanks": (
        rule(
            r"(?P<rank>)nRanks (?P<ranks>\d+)(?: nNodes (?P<hosts>\d+))?"
            r"(?: localRanks (?P<local>\d+))?(?: localRank (?P<local_rank>\d+))?"
            r"(?: MNNVL (?P<mnnvl>\d))?",
            _shape,
        ),
    ),
    "localRanks": (rule(r"localRanks (?P<local>\d+)", _local_ranks),),
    "Init": (
        rule(
            r"Init timings.*?: rank (?P<rank>\d+) nranks (?P<ranks>\d+) total (?P<total>[\d.]+)"
            r"(?P<parts> \(.*)?",
            _timing,
        ),
    ),
    "Connected": (
        rule(
            r"Connected all (?P<what>\w+)(?:, use ring PXN (?P<pxn>\d))?(?: GDR (?P<gdr>\d))?",
            _connected,
        ),
        rule(r"Connected ", _nothing),
    ),
    "MNNVL": (
        rule(
            r"MNNVL (?P<mnnvl>\d) cliqueId \S+ cliqueSize \d+ cliqueRank",
            _joined,
        ),
        rule(
            r"MNNVL (?:busId )?(?P<bus>\S+) fabric UUID (?P<uuid>\S+) cliqueId (?P<clique>\S+) "
            r"state (?P<state>\S+)",
            _fabric,
        ),
        rule(r"MNNVL ", _nothing),
    ),
}
for _role in ("NET", "TUNER", "PROFILER", "GIN", "ENV", "COLLNET", "RMA", "CollNet"):
    _missing = (
        rule(
            rf"(?P<role>{_role})/Plugin ?: (?:Could not find:?|No plugin found) ?\(?"
            r"(?P<name>[\w.-]*)(?P<reason>.*)",
            _no_plugin,
        ),
        rule(
            rf"(?P<role>{_role})/Plugin ?: Plugin load (?:\((?P<name>[^)]*)\) "
            r")?returned (?P<reason>.*)",
            _no_plugin,
        ),
        rule(rf"(?P<role>{_role})/Plugin ?: (?P<reason>dlerror=.*)", _no_plugin),
        rule(
            rf"(?P<role>{_role})/Plugin ?: (?P<name>\S+\.so\S*): (?P<reason>\S.*)", _no_plugin
        ),
        rule(
            rf"(?P<role>{_role})/Plugin ?: (?P<reason>Failed to (?:find|load|open).*)",
            _no_plugin,
        ),
        rule(rf"{_role}/Plugin ?: Loaded (?P<role>\w+) plugin {_LOADED}", _plugin),
        rule(rf"{_role}/Plugin ?: (?:Plugin name set|Loaded|Using|Successfully)", _nothing),
    )
    SETUP[f"{_role}/Plugin"] = SETUP[f"{_role}/Plugin:"] = _missing

REFUSED_PLUGIN = rule(
    r"(?P<name>\S*libnccl-net\S*\.so\S*): (?P<reason>(?:undefined symbol|cannot open|version|"
    r"wrong ELF).*)",
    _no_plugin,
)
"""What the loader says of a plug-in, printed as it is."""
ENVIRONMENT = rule(
    r"(?P<name>[A-Z][A-Z0-9]*_\w+) set (?:by (?P<by>environment|\S*conf\S*) )?to (?P<value>.*)",
    _setting,
)
NET: dict[str, tuple[Rule, ...]] = {
    "NET/IB": (
        rule(r"NET/IB ?: No device found", _no_device),
        rule(r"NET/IB ?: Using(?P<list>[^\n]*)", _adapters),
        rule(
            r"NET/IB ?: Made virtual device \[(?P<index>\d+)\] name=(?P<name>\S+) "
            r"speed=(?P<speed>\d+) ndevs=\d+(?: rail=(?P<rail>-?\d+))?(?: plane="
            r"(?P<plane>-?\d+))?",
            _made,
        ),
        rule(
            r"NET/IB ?: \[(?P<index>\d+)\] (?P<name>[^:\s]+):\w+:(?P<port>\d+)/(?P<layer>\w+) "
            r"(?:provider=\S+ )?speed=(?P<speed>\d+)",
            _detail,
        ),
        rule(
            r"NET/IB ?: (?P<name>[^:\s]+):(?P<port>\d+) speed change detected: (?P<before>\d+) "
            r"-> (?P<now>\d+) Mbps",
            _speed_changed,
        ),
        rule(r"NET/IB ?: (?:OOB|IbDev|ncclIbResiliency|Relaxed|Adaptive|Ib)", _nothing),
    ),
    "NET/Socket": (rule(r"NET/Socket ?: Using(?P<list>[^\n]*)", _interfaces),),
    "NET": (
        rule(rf"NET ?: Using interface {_ADDRESS}", _bootstrap),
        rule(r"NET/\w+", _nothing),
    ),
    "NET/OFI": (
        rule(
            r"NET/OFI Selected [Pp]rovider is (?P<provider>[^,(\s]+)"
            r"(?:, fabric is (?P<fabric>\S+))?(?: \(found (?P<count>\d+) nics\))?",
            _provider,
        ),
        rule(r"NET/OFI (?:Initializing|Using) aws-ofi-nccl (?P<version>\S+)", _ofi_version),
        rule(
            r"NET/OFI (?P<reason>.*(?:disabling GDR|GDR disabled on GDR-supported).*)",
            _gpudirect_off,
        ),
        rule(r"NET/OFI Setting (?P<name>\w+)(?: to|=) ?(?P<value>.+)", _forced),
        rule(r"NET/OFI Running on (?P<name>\S+)", _nothing),
    ),
}
GPUDIRECT = rule(
    r"NET/(?P<network>[\w ]+?) ?: GPU Direct RDMA (?P<state>Enabled|Disabled)"
    r"(?: for (?:GPU \S+ / )?HCA (?P<index>\d+) '?(?P<adapter>[^\s'(]+)?'?)?"
    r"(?P<reason> ?\(.*\))?",
    _gpudirect,
)
LIST_ALONE = rule(r"(?P<list>\[\d+\]\S+:\d+/(?:IB|RoCE).*)", _adapters)
SETUP["ncclOsDlopen"] = SETUP["dlopen"] = (
    rule(r"\w+\((?P<name>libr?nccl-(?:net|collnet)[^)]*)\) failed: (?P<reason>.*)", _no_plugin),
)
