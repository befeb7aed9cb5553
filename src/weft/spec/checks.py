"""What no single field can say: names that must exist, sizes that must divide."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from math import prod
from pathlib import Path as File
from pkgutil import iter_modules
from typing import Final

from weft import catalogue
from weft.catalogue.devices import Server
from weft.records import table
from weft.spec.base import Part
from weft.spec.cluster import Cluster, Tenant
from weft.spec.compatibility import network_problems
from weft.spec.inference import Inference, ServingParallelism
from weft.spec.problems import Path, Problem, get_at, nearest
from weft.spec.scenario import Scenario, TrafficItem
from weft.spec.settings import NetworkSettings
from weft.spec.workload import Job, Model, Parallelism

COMPILED: Final = ("pytorch", "fsdp", "deepspeed")
"""Frameworks whose models torch.compile takes."""
STATIC: Final = "static"
"""The load balancing that follows forwarding tables."""
VRF_NAME: Final = 12
"""Longest name of a tenant on Ethernet: a device of Linux has 15 letters, SONiC takes 3."""
VRFS_TAKEN: Final = frozenset({"default", "mgmt"})
OWN_SWITCHES: Final = frozenset({"roce", "scheduled_ethernet", "ultra_ethernet", "tcp"})
"""Fabrics of Ethernet switches, which have VRFs."""


def problems(part: Part) -> Iterator[Problem]:
    """Yield what is wrong within one part that is well formed."""
    if isinstance(part, Cluster):
        yield from _domain_problems(part)
        yield from _tuning_problems(part)
        yield from _constraint_problems(part)
        yield from _network_problems(part)
        yield from _tenant_problems(part)
    if isinstance(part, NetworkSettings):
        yield from _threshold_problems(part)
    if isinstance(part, Job):
        yield from job_problems(part)
    if isinstance(part, Inference):
        yield from _model_problems(part.model)
        yield from _service_problems(part)
    if isinstance(part, Scenario):
        yield from scenario_problems(part)


def name_problems(data: object) -> Iterator[Problem]:
    """Yield names of a cluster that weft does not know; the rest need not be well formed."""
    for path, known in _names().items():
        if known:
            yield from _unknown(path, get_at(data, path) or None, known)
    for problem in settings_name_problems(get_at(data, ("fabric", "settings", "settings"))):
        yield problem.under("fabric", "settings", "settings")


def _unknown(path: Path, name: object, known: Iterable[str]) -> Iterator[Problem]:
    """Yield a name that is none of those known; what is no text is another matter."""
    if isinstance(name, str) and name not in known:
        message = f"is not known; {nearest(name, known)}"
        yield Problem(path=path, message=message, value=name)


def _tuning_problems(cluster: Cluster) -> Iterator[Problem]:
    if cluster.fabric.settings is not None:
        settings = cluster.fabric.settings.settings
        for problem in (*_threshold_problems(settings), *_table_problems(settings)):
            yield problem.under("fabric", "settings", "settings")


def _table_problems(network: NetworkSettings) -> Iterator[Problem]:
    """Yield tables in settings that also serve parts of a cluster, where none would hold."""
    if network.balancing == STATIC or network.routes:
        message = "needs tables of the whole cluster; write both in a scenario's network"
        yield Problem(path=("balancing",), message=message, value=network.balancing)


def _route_problems(network: NetworkSettings) -> Iterator[Problem]:
    """Yield static routes without tables, and classes that would not follow them."""
    if network.balancing == STATIC and not network.routes:
        message = (
            "needs tables; write routes: FILE beside it (opensm-lfts.dump, or what dump_fts "
            "or ibroute print), write fabric.load_balancing: static in the cluster for routes "
            "by destination, or choose another balancing"
        )
        yield Problem(path=("balancing",), message=message, value=STATIC)
    for place, settings in enumerate(network.classes):
        own = settings.balancing or network.balancing
        if own != network.balancing and STATIC in {own, network.balancing}:
            message = "all classes follow the same tables, or none; leave it out"
            path = ("classes", str(place), "balancing")
            yield Problem(path=path, message=message, value=settings.balancing)


def _names() -> dict[Path, Collection[str]]:
    return {
        ("host", "gpu"): catalogue.names("gpus"),
        ("host", "nic"): catalogue.names("nics"),
        ("host", "server"): catalogue.names("servers"),
        ("fabric", "kind"): catalogue.names("fabrics"),
        ("storage_fabric", "kind"): catalogue.names("fabrics"),
        ("topology", "kind"): plugin_names("topologies"),
        ("topology", "switch"): catalogue.names("switches"),
        ("kubernetes", "mode"): sorted(table("weft.generate", "modes")),
    }


def _domain_problems(cluster: Cluster) -> Iterator[Problem]:
    domain = cluster.host.scale_up.gpus
    if cluster.host.gpus % domain:
        message = (
            f"must divide host.gpus ({cluster.host.gpus}); an NVL72 rack is one host of 72"
        )
        yield Problem(path=("host", "scale_up", "gpus"), message=message, value=domain)


def _constraint_problems(cluster: Cluster) -> Iterator[Problem]:
    """Yield fabrics, vendors and devices of the constraints that weft does not know."""
    limits, owned = cluster.constraints, cluster.constraints.owned
    named: tuple[tuple[Path, Iterable[str], Collection[str]], ...] = (
        (("skills",), limits.skills, catalogue.names("fabrics")),
        (("owned", "switches"), owned.switches, catalogue.names("switches")),
        (("owned", "nics"), owned.nics, catalogue.names("nics")),
    )
    for path, names, known in named:
        for name in names:
            if name not in known:
                message = f"is unknown; {nearest(name, known)}"
                yield Problem(
                    path=("constraints", *path, name), message=message, has_value=False
                )
    if limits.vendors:
        devices = (*catalogue.all_of("switches").values(), *catalogue.all_of("nics").values())
        known = sorted({device.vendor for device in devices if device.vendor})
        for place, vendor in enumerate(limits.vendors):
            if vendor not in known:
                message = f"is no vendor of the catalogue; {nearest(vendor, known)}"
                path = ("constraints", "vendors", str(place))
                yield Problem(path=path, message=message, value=vendor)


def _network_problems(cluster: Cluster) -> Iterator[Problem]:
    yield from network_problems(cluster.hosts, cluster.host, cluster.fabric, cluster.topology)


def _tenant_problems(cluster: Cluster) -> Iterator[Problem]:
    tenants = cluster.tenants
    if not tenants:
        return
    server = catalogue.find("servers", cluster.host.server) if cluster.host.server else None
    if isinstance(server, Server) and server.cloud:
        message = f"the provider of {server.title} keeps its tenants apart; leave it out"
        yield Problem(path=("tenants",), message=message, has_value=False)
    elif cluster.fabric.kind in OWN_SWITCHES:
        yield from _vrf_problems(tenants)
    elif cluster.fabric.kind != "infiniband":
        message = (
            "are kept apart by P_Keys (InfiniBand) or VRFs (Ethernet); fabric.kind "
            f"{cluster.fabric.kind} has neither. Leave them out"
        )
        yield Problem(path=("tenants",), message=message, has_value=False)
    last = cluster.groups()[-1][1].stop
    if last > cluster.hosts:
        message = f"have {last} hosts together; the cluster has {cluster.hosts}"
        yield Problem(path=("tenants",), message=message, has_value=False)
    for key in ("name", "p_key"):
        seen = Counter(getattr(tenant, key) for tenant in tenants)
        for place, tenant in enumerate(tenants):
            value = getattr(tenant, key)
            if value is not None and seen[value] > 1:
                path = ("tenants", str(place), key)
                yield Problem(
                    path=path, message="is given twice; each has its own", value=value
                )


def _vrf_problems(tenants: Iterable[Tenant]) -> Iterator[Problem]:
    """Yield names of tenants that a switch cannot give to a VRF."""
    for place, tenant in enumerate(tenants):
        path = ("tenants", str(place), "name")
        if len(tenant.name) > VRF_NAME:
            message = (
                f"has {len(tenant.name)} characters; on Ethernet a tenant is a VRF, a device "
                f"of Linux, and its name has at most {VRF_NAME}"
            )
            yield Problem(path=path, message=message, value=tenant.name)
        if tenant.p_key is not None:
            message = "is a key of InfiniBand; Ethernet has VRFs. Leave it out"
            yield Problem(path=("tenants", str(place), "p_key"), message=message,
                          value=tenant.p_key)  # fmt: skip
        if tenant.name in VRFS_TAKEN:
            message = "is a VRF that switches have already; take another name"
            yield Problem(path=path, message=message, value=tenant.name)


def plugin_names(folder: str, above: str = "network") -> list[str]:
    """Return the plug-ins of a folder of ``network`` (or of another part of weft).

    The folder is read as files: spec lies below network and must not import it, yet a wrong
    name should be told where it was written, line and column.
    """
    path = File(__file__).parent.parent / above / folder
    return sorted(m.name for m in iter_modules([str(path)]) if not m.name.startswith("_"))


def job_problems(job: Job) -> Iterator[Problem]:
    """Yield sizes of a job that do not divide."""
    yield from _model_problems(job.model)
    if job.compile and job.framework not in COMPILED:
        message = f"is for the frameworks {', '.join(COMPILED)}, not {job.framework}"
        yield Problem(path=("compile",), message=message, value=True)
    if isinstance(job.parallelism, Parallelism):
        yield from _spread_problems(job, job.parallelism)


def _model_problems(model: Model) -> Iterator[Problem]:
    if model.heads % model.kv_heads:
        message = f"must divide heads ({model.heads}): groups of queries share a key"
        yield Problem(path=("model", "kv_heads"), message=message, value=model.kv_heads)
    experts = model.experts
    if experts and experts.experts_per_token > experts.experts:
        message = f"is more than there are experts ({experts.experts})"
        path = ("model", "experts", "experts_per_token")
        yield Problem(path=path, message=message, value=experts.experts_per_token)


def _spread_problems(job: Job, spread: Parallelism) -> Iterator[Problem]:
    model = job.model
    if model.heads % spread.tp:
        message = f"must divide model.heads ({model.heads})"
        yield _of("tp", spread.tp, message)
    yield from _stage_problems(model, spread)
    experts = model.experts.experts if model.experts else 0
    if experts % spread.ep or (spread.ep > 1 and not experts):
        message = (
            f"must divide the experts of the model ({experts})"
            if experts
            else "must be 1: the model has no experts"
        )
        yield _of("ep", spread.ep, message)
    if job.sequence_length % spread.cp:
        message = f"must divide sequence_length ({job.sequence_length})"
        yield _of("cp", spread.cp, message)
    yield from _shard_problems(spread)
    if spread.dp:
        yield from _batch_problems(job, spread.dp)


def _service_problems(service: Inference) -> Iterator[Problem]:
    """Yield sizes of the parallelism that do not suit the model."""
    spread, model = service.parallelism, service.model
    if not isinstance(spread, ServingParallelism):
        return
    if model.heads % spread.tp:
        yield _of("tp", spread.tp, f"must divide model.heads ({model.heads})")
    if spread.pp > model.layers:
        yield _of("pp", spread.pp, f"must not exceed model.layers ({model.layers})")
    experts = model.experts.experts if model.experts else 0
    if spread.ep > 1 and not experts:
        yield _of("ep", spread.ep, "must be 1: the model has no experts")
    elif spread.ep > 1 and experts < spread.ep:
        message = f"must not exceed the experts of one layer ({experts})"
        yield _of("ep", spread.ep, message)
    elif spread.ep % spread.tp and spread.ep > 1:
        message = (
            f"must be 1 or a multiple of tp ({spread.tp}): tensor-parallel ranks share tokens"
        )
        yield _of("ep", spread.ep, message)
    yield from _request_problems(service, spread.dp or 0)


def _shard_problems(spread: Parallelism) -> Iterator[Problem]:
    if spread.shard_ranks is None:
        return
    if spread.sharding != "hsdp":
        message = f"has a meaning with sharding: hsdp alone, and sharding is {spread.sharding}"
        yield _of("shard_ranks", spread.shard_ranks, f"{message}; leave it out")
    elif spread.dp and spread.dp % spread.shard_ranks:
        message = f"must divide dp ({spread.dp}): every replica is sharded alike"
        yield _of("shard_ranks", spread.shard_ranks, message)


def _stage_problems(model: Model, spread: Parallelism) -> Iterator[Problem]:
    stages = spread.pp * spread.virtual_stages
    if model.layers < (spread.pp if spread.uneven_stages else stages):
        message = f"times virtual_stages ({spread.virtual_stages}) is more than the layers"
        yield _of("pp", spread.pp, f"{message} of the model ({model.layers})")
    elif model.layers % stages and not spread.uneven_stages:
        message = (
            f"times virtual_stages ({spread.virtual_stages}) must divide the layers of the "
            f"model ({model.layers}); or write uneven_stages: true"
        )
        yield _of("pp", spread.pp, message)
    if spread.schedule == "interleaved" and spread.pp > 1 and spread.virtual_stages == 1:
        message = "must be 2 or more for the interleaved schedule; or write schedule: 1f1b"
        yield _of("virtual_stages", spread.virtual_stages, message)


def _batch_problems(job: Job, dp: int) -> Iterator[Problem]:
    each = dp * job.micro_batch
    if job.global_batch % each:
        message = f"must be a multiple of dp x micro_batch = {dp} x {job.micro_batch} = {each}"
        low, high = job.global_batch // each * each, (job.global_batch // each + 1) * each
        near = f"{low} or {high}" if low else f"{high}"
        message = f"{message}; write {near}, or change dp or micro_batch"
        yield Problem(path=("global_batch",), message=message, value=job.global_batch)


def _of(key: str, value: int, message: str) -> Problem:
    return Problem(path=("parallelism", key), message=message, value=value)


def pair_problems(cluster: Cluster, work: Job | Inference) -> list[Problem]:
    """Return what is wrong with a job or a service on this cluster; paths are those of it."""
    return [*_precision_problems(cluster, work), *_size_problems(cluster, work)]


_SAME_UNIT: Final = {"mxfp8": "fp8", "nvfp4": "fp4"}
"""Scaled formats run on the matrix unit of their width."""

_SCALING: Final = frozenset({"fp4", "fp6"})
"""Matrix units that scale blocks of numbers came with these widths (OCP MX, 2023)."""


def _precision_problems(cluster: Cluster, job: Job | Inference) -> Iterator[Problem]:
    peaks = catalogue.find("gpus", cluster.host.gpu).flop_per_s
    scaled = job.precision in _SAME_UNIT
    lacks_scaling = scaled and not peaks.keys() & _SCALING
    if lacks_scaling or _SAME_UNIT.get(job.precision, job.precision) not in peaks:
        known = ", ".join(sorted(peaks.keys() - {"int8"}))
        message = f"is not in the matrix units of {cluster.host.gpu}; it has {known}"
        yield Problem(path=("precision",), message=message, value=job.precision)


def _size_problems(cluster: Cluster, work: Job | Inference) -> Iterator[Problem]:
    """Yield sizes that do not suit the GPUs of a cluster."""
    gpus, spread = work.gpus or cluster.gpus, work.parallelism
    if gpus > cluster.gpus:
        message = f"is more than the cluster has ({cluster.gpus})"
        yield Problem(path=("gpus",), message=message, value=gpus)
        return
    if isinstance(spread, str):
        return
    factors = {"tp": spread.tp, "pp": spread.pp}
    factors |= {"cp": spread.cp} if isinstance(spread, Parallelism) else {}
    replica = prod(factors.values())
    sizes = f"{' x '.join(factors)} = {' x '.join(map(str, factors.values()))} = {replica}"
    kind = "job" if isinstance(work, Job) else "service"
    dp = gpus // replica
    if gpus % replica:
        message = f"{sizes} must divide the GPUs of the {kind} ({gpus})"
        yield Problem(path=("parallelism",), message=message, has_value=False)
    elif spread.dp is not None and spread.dp != dp:
        message = f"must be {dp}: {sizes}, and the {kind} has {gpus} GPUs; or leave it out"
        yield _of("dp", spread.dp, message)
    elif isinstance(work, Job) and isinstance(spread, Parallelism):
        if spread.dp is None:
            yield from _batch_problems(work, dp)
        if (dp * spread.cp * spread.tp) % spread.ep:
            message = f"must divide tp x cp x dp = {spread.tp} x {spread.cp} x {dp}"
            yield _of("ep", spread.ep, message)
    elif isinstance(work, Inference):
        if (spread.tp * dp) % spread.ep:
            yield _of("ep", spread.ep, f"must divide tp x dp = {spread.tp} x {dp}")
        yield from _request_problems(work, dp)


def _request_problems(service: Inference, dp: int) -> Iterator[Problem]:
    if service.sequences < dp:
        message = f"must be {dp} or more: a request for each of the dp replicas"
        yield Problem(path=("sequences",), message=message, value=service.sequences)


def scenario_name_problems(data: object) -> Iterator[Problem]:
    """Yield names of a scenario that weft does not know."""
    for problem in name_problems(get_at(data, ("cluster",))):
        yield problem.under("cluster")
    for problem in settings_name_problems(get_at(data, ("network",))):
        yield problem.under("network")


def settings_name_problems(data: object) -> Iterator[Problem]:
    """Yield names of network settings that weft does not know."""
    for key in ("congestion", "balancing", "recovery"):
        yield from _unknown((key,), get_at(data, (key,)), plugin_names(key, "engines/packet"))
    classes = get_at(data, ("classes",))
    for place, own in enumerate(classes if isinstance(classes, list | tuple) else ()):
        for problem in settings_name_problems(own):
            yield problem.under("classes", str(place))


def scenario_problems(scenario: Scenario) -> Iterator[Problem]:
    """Yield what cannot be run: settings that contradict, traffic that has no room."""
    for check in (_domain_problems, _network_problems):
        for problem in check(scenario.cluster):
            yield problem.under("cluster")
    for problem in (*_threshold_problems(scenario.network), *_route_problems(scenario.network)):
        yield problem.under("network")
    yield from _class_problems(scenario)
    yield from _stuck_problems(scenario)
    for place, seed in enumerate(scenario.seeds):
        if seed in scenario.seeds[:place]:
            message = "is there before: the same seed gives the same run"
            yield Problem(path=("seeds", str(place)), message=message, value=seed)
    for place, item in enumerate(scenario.traffic):
        for problem in _item_problems(item, scenario.cluster):
            yield problem.under("traffic", str(place))


def _class_problems(scenario: Scenario) -> Iterator[Problem]:
    names = [settings.name for settings in scenario.network.classes]
    for place, name in enumerate(names):
        if name in names[:place]:
            path = ("network", "classes", str(place), "name")
            yield Problem(path=path, message="is the name of two classes", value=name)
    users: list[tuple[tuple[str, ...], str | None]] = [
        (("traffic", str(place), item.kind), item.content.traffic_class)
        for place, item in enumerate(scenario.traffic)
        if len(item.kinds) == 1
    ]
    users += [
        (("stuck", str(n)), receiver.traffic_class) for n, receiver in enumerate(scenario.stuck)
    ]
    for where, asked in users:
        if asked is not None and asked not in names:
            known = nearest(asked, names) if names else "network.classes names none"
            message = f"is no traffic class; {known}"
            yield Problem(path=(*where, "traffic_class"), message=message, value=asked)


def _stuck_problems(scenario: Scenario) -> Iterator[Problem]:
    for place, stuck in enumerate(scenario.stuck):
        path = ("stuck", str(place))
        yield from _gpu_problems((*path, "gpu"), stuck.gpu, scenario.cluster)
        if stuck.end_s <= stuck.begin_s:
            message = f"must be after begin_s ({stuck.begin_s:g}s)"
            yield Problem(path=(*path, "end_s"), message=message, value=stuck.end_s)


def _threshold_problems(network: NetworkSettings) -> Iterator[Problem]:
    pairs = (
        (("pfc", "xon_bytes"), network.pfc.xon_bytes, network.pfc.xoff_bytes, "pfc.xoff_bytes"),
        (
            ("ecn", "kmin_bytes"),
            network.ecn.kmin_bytes,
            network.ecn.kmax_bytes,
            "ecn.kmax_bytes",
        ),
    )
    for path, low, high, name in pairs:
        if low is not None and high is not None and low > high:
            yield Problem(path=path, message=f"must not be above {name} ({high}B)", value=low)


def _item_problems(item: TrafficItem, cluster: Cluster) -> Iterator[Problem]:
    if len(item.kinds) != 1:
        known = ", ".join(TrafficItem.model_fields)
        message = f"must have exactly one kind of traffic; there are: {known}"
        yield Problem(path=(), message=message, has_value=False)
        return
    yield from _incast_problems(item, cluster)
    yield from _rank_problems(item, cluster)
    yield from _job_problems(item, cluster)
    yield from _flow_problems(item, cluster)
    yield from _host_problems(item, cluster)


def _host_problems(item: TrafficItem, cluster: Cluster) -> Iterator[Problem]:
    """Yield permutations and backgrounds that hosts or GPUs are missing for."""
    if item.permutation is not None:
        hosts, gpus = item.permutation.hosts or cluster.hosts, item.permutation.gpus_per_host
        if not 2 <= hosts <= cluster.hosts:  # noqa: PLR2004 - nobody sends to itself
            message = f"must be 2 to {cluster.hosts}, the hosts of the cluster"
            yield Problem(path=("permutation", "hosts"), message=message, value=hosts)
        yield from _per_host_problems(("permutation", "gpus_per_host"), gpus or 0, cluster)
    if item.background is not None:
        storage = item.background.storage_hosts
        if cluster.hosts < 2:  # noqa: PLR2004 - as above
            message = "needs two hosts or more; the cluster has one"
            yield Problem(path=("background",), message=message, has_value=False)
        elif storage >= cluster.hosts:
            message = f"must leave a host that sends: at most {cluster.hosts - 1}"
            yield Problem(path=("background", "storage_hosts"), message=message, value=storage)


def _incast_problems(item: TrafficItem, cluster: Cluster) -> Iterator[Problem]:
    if item.incast is None:
        return
    room = cluster.gpus - cluster.host.gpus
    if item.incast.senders > room:
        message = f"is more than the GPUs of the other hosts ({room}); use more hosts"
        yield Problem(path=("incast", "senders"), message=message, value=item.incast.senders)
    yield from _gpu_problems(("incast", "receiver"), item.incast.receiver, cluster)


def _rank_problems(item: TrafficItem, cluster: Cluster) -> Iterator[Problem]:
    collective = item.collective
    if collective is None:
        return
    per_host, first = collective.ranks_per_host or cluster.host.gpus, collective.first_host
    yield from _per_host_problems(("collective", "ranks_per_host"), per_host, cluster)
    room = (cluster.hosts - first) * per_host
    ranks = room if collective.ranks is None else collective.ranks
    if not 2 <= ranks <= room:  # noqa: PLR2004 - a collective of one rank moves nothing
        message = f"must be 2 to {room}: {per_host} a host, from host {first} on"
        yield Problem(path=("collective", "ranks"), message=message, value=ranks)
    yield from _algorithm_problems(collective.algorithm, ("collective",))


def _job_problems(item: TrafficItem, cluster: Cluster) -> Iterator[Problem]:
    job = item.job
    if job is None:
        return
    per_host = job.ranks_per_host or cluster.host.gpus
    yield from _per_host_problems(("job", "ranks_per_host"), per_host, cluster)
    room = -(-max(0, cluster.hosts - job.first_host) // job.every)
    hosts = room if job.hosts is None else job.hosts
    if not 1 <= hosts <= room or hosts * per_host < 2:  # noqa: PLR2004 - one rank moves nothing
        message = f"must be 1 to {room} from host {job.first_host} on, with two GPUs or more"
        yield Problem(path=("job", "hosts"), message=message, value=hosts)
    for place, step in enumerate(job.steps):
        yield from _algorithm_problems(step.algorithm, ("job", "steps", str(place)))


def _algorithm_problems(name: str | None, path: tuple[str, ...]) -> Iterator[Problem]:
    known = plugin_names("collectives", "traffic")
    yield from _unknown((*path, "algorithm"), name, known)


def _gpu_problems(path: Path, gpu: int, cluster: Cluster) -> Iterator[Problem]:
    if gpu >= cluster.gpus:
        message = f"is no GPU of the cluster; they are numbered 0 to {cluster.gpus - 1}"
        yield Problem(path=path, message=message, value=gpu)


def _per_host_problems(path: Path, gpus: int, cluster: Cluster) -> Iterator[Problem]:
    if gpus > cluster.host.gpus:
        message = f"is more than a host has ({cluster.host.gpus})"
        yield Problem(path=path, message=message, value=gpus)


def _flow_problems(item: TrafficItem, cluster: Cluster) -> Iterator[Problem]:
    for place, flow in enumerate(item.flows.flows if item.flows else ()):
        path = ("flows", "flows", str(place))
        for end in ("source", "target"):
            yield from _gpu_problems((*path, end), getattr(flow, end), cluster)
        if flow.source // cluster.host.gpus == flow.target // cluster.host.gpus:
            message = "must be on another host than source: inside a host there is no fabric"
            yield Problem(path=(*path, "target"), message=message, value=flow.target)
