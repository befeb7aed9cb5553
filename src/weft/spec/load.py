"""Spec files in, Cluster and Job out; every message names its place, key and value.

A file holds one or more YAML documents of Kubernetes' manner::

    apiVersion: weft/v1
    kind: Cluster            # or Job, or Model
    metadata: {name: my-cluster}
    spec:
      preset: dgx_h100       # laid under what follows
      hosts: 16
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path as File
from typing import Any, Final, TypeVar

from weft.errors import SpecError, UnknownName, WeftError
from weft.spec import checks, hub
from weft.spec.base import Part
from weft.spec.cluster import Cluster
from weft.spec.document import (
    Tree,
    is_file,
    merge,
    paths_of,
    read_documents,
    read_text,
    read_value,
)
from weft.spec.inference import Inference
from weft.spec.parts import build
from weft.spec.problems import Problem, get_at, nearest, raise_all, shorten
from weft.spec.scenario import Scenario
from weft.spec.settings import NetworkSettings, Tuning, TuningRecord
from weft.spec.study import Study
from weft.spec.workload import Job, Model

API_VERSION: Final = "weft/v1"
Loaded = Cluster | Job | Inference | Model | Scenario | Study
KINDS: Final[Mapping[str, type[Loaded]]] = {
    "Cluster": Cluster, "Job": Job, "Inference": Inference, "Model": Model,
    "Scenario": Scenario, "Study": Study,
}  # fmt: skip
_BALANCING: Final = ("cluster", "fabric", "load_balancing")
_SETTINGS: Final = "NetworkSettings"
_DOCUMENTS: Final = (".yaml", ".yml")
_MODEL_FILES: Final = (".yaml", ".yml", ".json")
_CONFIG: Final = "config.json"
"""What a folder of a Hugging Face model holds."""
_ENVELOPE: Final = ("apiVersion", "kind", "metadata", "spec")

P = TypeVar("P", bound=Part)
Where = str | File | Mapping[str, Any] | Tree
"""A path (``-`` is standard input), or the document itself: a mapping, or ``written``."""


def load_cluster(where: Where, sets: Iterable[str] = ()) -> Cluster:
    """Load a cluster from a file (or a mapping), with ``--set`` overrides.

    >>> load_cluster({"preset": "dgx_h100", "hosts": 2}, ["fabric.kind=roce"]).fabric.kind
    'roce'
    """
    return _load(where, "Cluster", Cluster, sets)


def load_job(where: Where, sets: Iterable[str] = ()) -> Job:
    """Load a job from a file (or a mapping), with ``--set`` overrides.

    >>> load_job({"model": "llama3_8b", "global_batch": 64}).model.layers
    32
    """
    return _load(where, "Job", Job, sets)


def load_inference(where: Where, sets: Iterable[str] = ()) -> Inference:
    """Load an inference service from a file (or a mapping), with ``--set`` overrides.

    >>> load_inference({"model": "llama3_8b", "sequences": 64}).output_tokens
    512
    """
    return _load(where, "Inference", Inference, sets)


def load_scenario(where: Where, sets: Iterable[str] = ()) -> Scenario:
    """Load a scenario from a file (or a mapping), with ``--set`` overrides.

    >>> traffic = [{"incast": {"senders": 3, "size_bytes": "1MiB"}}]
    >>> load_scenario({"cluster": "hgx_h100_roce", "traffic": traffic}).network.congestion
    'dcqcn'
    """
    return _load(where, "Scenario", Scenario, sets)


def load_study(where: Where, sets: Iterable[str] = ()) -> tuple[Study, tuple[Tree, ...]]:
    """Load a study and the documents that it names, which are looked for beside it."""
    study = _load(where, "Study", Study, sets)
    folder = File(where).parent if isinstance(where, str | File) else File()
    named = (_documents(folder / name) for name in study.documents)
    return study, tuple(tree for trees in named for tree in trees)


def load_case(
    paths: Sequence[str | File | Tree], sets: Iterable[str] = ()
) -> tuple[Cluster, Job]:
    """Load a cluster and a training job from one file with both, or from several.

    A tree stands for a document that is in no file (``written``).

    Every problem of both is reported at once; an override goes to the part that has its key
    (``cluster.`` or ``job.`` before it decides).
    """
    return _pair(paths, sets, "Job", Job)


def load_service(
    paths: Sequence[str | File | Tree], sets: Iterable[str] = ()
) -> tuple[Cluster, Inference]:
    """Load a cluster and an inference service, as ``load_case`` does a cluster and a job."""
    return _pair(paths, sets, "Inference", Inference)


W = TypeVar("W", Job, Inference)


def _pair(
    paths: Sequence[str | File | Tree], sets: Iterable[str], kind: str, work: type[W]
) -> tuple[Cluster, W]:
    mappings = [tree for path in paths for tree in _documents(path)]
    for_cluster, for_work = split_sets(sets, work)
    places = ", ".join(
        path.marks.get((), "") if isinstance(path, Tree) else str(path) for path in paths
    )
    cluster_tree = _resolved(_pick(mappings, "Cluster", places), "Cluster", for_cluster)
    work_tree = _resolved(_pick(mappings, kind, places), kind, for_work)
    cluster, lines = _built(cluster_tree, Cluster)
    found, more = _built(work_tree, work)
    raise_all(lines + more)
    assert cluster is not None
    assert found is not None
    raise_all(work_tree.lines(checks.pair_problems(cluster, found)))
    return cluster, found


def keys_written(
    places: Sequence[str | File | Tree], sets: Iterable[str] = ()
) -> frozenset[str]:
    """Return the dotted keys that documents and overrides state, without those of a preset.

    Keys of a job start with ``job.``; a mapping is the keys below it.

    >>> sorted(keys_written([written("Cluster", {"host": {"nics": 4}}, "here")], ["hosts=2"]))
    ['host.nics', 'hosts']
    """
    found: set[str] = set()
    trees = [t for p in places for t in ([p] if isinstance(p, Tree) else _documents(p))]
    for tree in trees:
        spec = tree.data.get("spec") if _kind(tree) in {"Cluster", "Job"} else None
        prefix = "job." if _kind(tree) == "Job" else ""
        leaves = (p for p in paths_of(spec) if p and not _is_map(get_at(spec, p)))
        found.update(prefix + ".".join(path) for path in leaves)
    for prefix, texts in zip(("", "job."), split_sets(sets), strict=True):
        for text in texts:
            key = text.partition("=")[0].strip().removeprefix("spec.")
            key = key.removeprefix("cluster.").removeprefix("job.")
            found.add(prefix + key)
    return frozenset(found)


def load_cases(
    places: Sequence[str | File | Tree], sets: Iterable[str] = ()
) -> tuple[tuple[Cluster, ...], tuple[Job, ...]]:
    """Load every cluster and every job of some documents, and check each pair.

    Overrides change all clusters, or all jobs.
    """
    trees = [tree for place in places for tree in _documents(place)]
    for_cluster, for_job = split_sets(sets)
    clusters = [_resolved(t, "Cluster", for_cluster) for t in trees if _kind(t) == "Cluster"]
    jobs = [_resolved(t, "Job", for_job) for t in trees if _kind(t) == "Job"]
    built = [_built(tree, Cluster) for tree in clusters]
    made = [_built(tree, Job) for tree in jobs]
    raise_all(line for _, lines in (*built, *made) for line in lines)
    pairs = ((c, j, tree) for c, _ in built for (j, _), tree in zip(made, jobs, strict=True))
    raise_all(
        line for c, j, tree in pairs if c and j
        for line in tree.lines(checks.pair_problems(c, j))
    )  # fmt: skip
    return tuple(c for c, _ in built if c), tuple(j for j, _ in made if j)


def written(kind: str, spec: Mapping[str, Any], place: str) -> Tree:
    """Return a document that is in no file; messages call it ``place``."""
    data = {"apiVersion": API_VERSION, "kind": kind, "spec": dict(spec)}
    return Tree(data=data, marks=dict.fromkeys(paths_of(data), place), folder=File())


def kind_of(path: str | File) -> str:
    """Return the kind of the one document of a file; empty where it is not one."""
    trees = _documents(path)
    return (_kind(trees[0]) or "") if len(trees) == 1 else ""


def load_documents(path: str | File, sets: Iterable[str] = ()) -> list[Loaded]:
    """Load every document of a file, whatever its kind; all problems are reported at once."""
    for_cluster, for_job = split_sets(sets)
    overrides = {"Cluster": for_cluster, "Job": for_job}
    lines: list[str] = []
    parts: list[Loaded] = []
    for tree in _documents(path):
        kind = _kind(tree)
        if kind is None:
            lines.append(_wrong_kind(tree))
            continue
        part, found = _built(_resolved(tree, kind, overrides.get(kind, ())), KINDS[kind])
        lines += found
        parts += [part] if part else []
    raise_all(lines)
    if not parts:
        raise SpecError(f"{path}: holds no document; `weft init` writes one to start from")
    return parts


def preset(name: str, /, **changes: Any) -> Cluster:  # noqa: ANN401 - any field of the cluster
    """Return the cluster of a preset, with fields changed (text with units, as in a file).

    >>> preset("dgx_h100", hosts=4).gpus
    32
    """
    return load_cluster({"preset": name, **changes})


@cache
def presets() -> tuple[str, ...]:
    """Return the names of all presets."""
    return _names("presets")


def settings_of(cluster: Cluster) -> NetworkSettings:
    """Return the packet settings that go with a cluster's fabric and its tuning.

    A load balancing that the cluster names comes before that of the tuning.

    >>> settings_of(preset("hgx_h100_roce")).congestion
    'dcqcn'
    """
    fabric = cluster.fabric
    if fabric.settings is not None:
        return fabric.settings.settings
    name = _tuning_of({"fabric": {"kind": fabric.kind, "tuning": fabric.tuning}})
    if name is None:
        raise UnknownName(
            f"no packet settings are named after the fabric {fabric.kind!r}; there are: "
            f"{', '.join(tunings())}"
        )
    settings = load_tuning(name).settings
    return settings if fabric.load_balancing is None else settings.with_(balancing=None)


def load_tuning(name_or_path: str | File) -> Tuning:
    """Load network settings by name (a file of spec/tunings) or from a file.

    >>> load_tuning("roce_default").settings.congestion
    'dcqcn'
    """
    tree = _tuning_file(str(name_or_path), File())
    settings = _made(_settings_alone(tree), NetworkSettings)
    return Tuning(name=_tuning_name(tree), settings=settings, record=_record(tree))


@cache
def tunings() -> tuple[str, ...]:
    """Return the names of all named network settings."""
    return _names("tunings")


@cache
def models() -> tuple[str, ...]:
    """Return the names of all models."""
    return _names("models")


def model(name_or_path: str | File, /, **changes: Any) -> Model:  # noqa: ANN401 - any field
    """Return a model by name, from a model file, or from a Hugging Face config.json.

    >>> model("llama3_8b").layers
    32
    """
    tree = _model_tree(name_or_path, File())
    changed = Tree(data=changes, marks=dict.fromkeys(paths_of(changes), ""))
    return _made(tree.under(changed), Model)


def metadata(folder: str, name: str) -> Mapping[str, Any]:
    """Return the metadata (name, source, published figures) of a shipped file."""
    return _shipped(folder, name).data.get("metadata", {})  # type: ignore[no-any-return]


def shipped_text(folder: str, name: str) -> str:
    """Return the text of a shipped preset or model, with its comments."""
    if name not in _names(folder):
        word = folder.removesuffix("s")
        raise UnknownName(f"no {word} is called {name!r}; {nearest(name, _names(folder))}")
    return (files("weft.spec") / folder / f"{name}.yaml").read_text(encoding="utf-8")


def split_sets(sets: Iterable[str], work: type[Part] = Job) -> tuple[list[str], list[str]]:
    """Sort ``--set`` overrides into those of the cluster and those of the job.

    >>> split_sets(["fabric.kind=roce", "precision=fp8", "job.name=x"])
    (['fabric.kind=roce'], ['precision=fp8', 'job.name=x'])
    """
    for_cluster, for_job = [], []
    for text in sets:
        first = text.split("=")[0].removeprefix("spec.").split(".")[0].strip()
        own = work.__name__.lower()
        if first == own or (first in work.model_fields and first != "name"):
            for_job.append(text)
        else:
            for_cluster.append(text)
    return for_cluster, for_job


def _names(folder: str) -> tuple[str, ...]:
    entries = (files("weft.spec") / folder).iterdir()
    return tuple(sorted(e.name[:-5] for e in entries if e.name.endswith(".yaml")))


def _load(where: Where, kind: str, part: type[P], sets: Iterable[str]) -> P:
    if isinstance(where, Mapping):
        tree = Tree(data=dict(where), marks=dict.fromkeys(paths_of(where), ""), folder=File())
    elif isinstance(where, Tree):
        tree = where
    else:
        tree = _pick(_documents(where), kind, str(where))
    return _made(_resolved(tree, kind, sets), part)


def kinds_in(path: str | File) -> tuple[str, ...]:
    """Return the kinds of the documents of a file; those of no kind are left out."""
    return tuple(kind for tree in _documents(path) if (kind := _kind(tree)) is not None)


def _documents(path: str | File | Tree) -> list[Tree]:
    if isinstance(path, Tree):
        return [path]
    return read_documents(read_text(path), str(path), File(path).parent)


def _kind(tree: Tree) -> str | None:
    kind = tree.data.get("kind") if isinstance(tree.data, Mapping) else None
    return kind if kind in KINDS else None


def _wrong_kind(tree: Tree) -> str:
    if not isinstance(tree.data, Mapping) or "kind" not in tree.data:
        message = f"has no kind; a document starts with apiVersion: {API_VERSION} and kind: "
        problem = Problem(path=(), message=message + " or ".join(KINDS), has_value=False)
    else:
        kind = tree.data["kind"]
        message = f"is unknown; {nearest(kind, KINDS)}"
        problem = Problem(path=("kind",), message=message, value=kind)
    return tree.lines([problem])[0]


def _pick(trees: list[Tree], kind: str, name: str) -> Tree:
    """Return the one document of a kind."""
    found = [tree for tree in trees if _kind(tree) == kind]
    if len(found) != 1:
        raise_all(_wrong_kind(tree) for tree in trees if _kind(tree) is None)
    if found:
        return _only(found, kind, name)
    held = ", ".join(str(_kind(tree)) for tree in trees) or "nothing"
    raise SpecError(
        f"{name}: holds no document of kind {kind} (it holds {held}); add one that starts "
        f"with apiVersion: {API_VERSION} and kind: {kind}"
    )


def _only(found: list[Tree], kind: str, name: str) -> Tree:
    """Return the document of a kind, of which there must not be several."""
    if len(found) == 1:
        return found[0]
    places = " and ".join(tree.marks[()] for tree in found)
    raise SpecError(f"{name}: holds {len(found)} documents of kind {kind} ({places}); keep one")


_NAMES: Final[Mapping[type[Part], Callable[[object], Iterable[Problem]]]] = {
    Cluster: checks.name_problems,
    Scenario: checks.scenario_name_problems,
    NetworkSettings: checks.settings_name_problems,
}


def _made(tree: Tree, part: type[P]) -> P:
    """Return the part of a tree; raise SpecError with every problem of it."""
    made, lines = _built(tree, part)
    raise_all(lines)
    assert made is not None
    return made


def _built(tree: Tree, part: type[P]) -> tuple[P | None, list[str]]:
    lines = tree.lines()
    if tree.data is None:
        return None, lines
    if part in _NAMES:
        lines += tree.lines(list(_NAMES[part](tree.data)))
    built = build(part, tree.data)
    if isinstance(built, list):
        return None, lines + tree.lines(built)
    found = [] if lines else list(checks.problems(built))
    return built, lines + tree.lines(found)


def _resolved(tree: Tree, kind: str, sets: Iterable[str]) -> Tree:
    """Return the spec alone: unwrapped, overridden, its preset laid under it."""
    tree = _unwrapped(tree, kind)
    for text in sets:
        tree = _set(tree, text, kind)
    if not isinstance(tree.data, Mapping):
        return tree
    lay = _LAYERS.get(kind)
    return lay(tree) if lay else tree


def _unwrapped(tree: Tree, kind: str) -> Tree:
    data = tree.data
    if not (isinstance(data, Mapping) and {"kind", "apiVersion", "spec"} & data.keys()):
        return tree
    found = [replace(p, place=tree.place(p)) for p in _envelope_problems(data, kind)]
    spec = replace(tree.below("spec"), problems=tree.problems + found)
    name = data.get("metadata", {}).get("name") if _is_map(data.get("metadata")) else None
    if isinstance(spec.data, Mapping) and name is not None and "name" not in spec.data:
        spec.data = {"name": name, **spec.data}
        spec.marks[("name",)] = tree.marks.get(("metadata", "name"), "")
    return spec


def _is_map(value: object) -> bool:
    return isinstance(value, Mapping)


def _envelope_problems(data: Mapping[str, Any], kind: str) -> Iterable[Problem]:
    for key in data.keys() - set(_ENVELOPE):
        message = f"is unknown; {nearest(key, _ENVELOPE)}"
        yield Problem(path=(key,), message=message, has_value=False)
    version = data.get("apiVersion")
    if version is None:
        message = f"is missing; write apiVersion: {API_VERSION}"
        yield Problem(path=("apiVersion",), message=message, has_value=False)
    elif version != API_VERSION:
        message = f"is not known to this weft; write {API_VERSION}"
        yield Problem(path=("apiVersion",), message=message, value=version)
    if data.get("kind") != kind:
        message = f"is not what is asked for here; a {kind} is"
        yield Problem(path=("kind",), message=message, value=data.get("kind"))
    if "spec" not in data:
        yield Problem(path=("spec",), message="is missing; add it", has_value=False)
    if "metadata" in data and not _is_map(data["metadata"]):
        message = "must be a mapping; write metadata: {name: my-name}"
        yield Problem(path=("metadata",), message=message, value=data["metadata"])


def _set(tree: Tree, text: str, kind: str) -> Tree:
    """Lay one ``--set path=value`` over a spec."""
    name = f"--set {text}"
    path, equals, value = text.partition("=")
    keys = [key.strip() for key in path.split(".")]
    while keys[0] in {"spec", kind.lower(), "metadata"} and len(keys) > 1:
        keys = keys[1:]
    if not equals or not all(keys):
        raise SpecError(f"{name}: is not path=value; write it as --set fabric.kind=roce")
    read = read_value(value, name)
    marks = {(*keys, *p): name for p in (*read.marks, ())}
    base = tree.data or {}
    if len(keys) > 1 and isinstance(base.get("model"), str) and keys[0] == "model":
        base = {**base, "model": {"preset": base["model"]}}  # a name, of which one key differs
    data = _laid_at(base, tuple(keys), read.data, name)
    over = Tree(data=data, marks=marks, keys=dict(marks), folder=tree.folder)
    return replace(tree, data=base).under(over)


def _laid_at(
    base: object, keys: tuple[str, ...], value: object, name: str, at: str = ""
) -> Any:  # noqa: ANN401 - as YAML
    """Return what to lay over a base so that one value below it changes; lists are whole.

    >>> _laid_at({"a": [1, {"b": 2}]}, ("a", "1", "c"), 3, "--set a.1.c=3")
    {'a': [1, {'b': 2, 'c': 3}]}
    """
    if not keys:
        return value
    key, rest = keys[0], keys[1:]
    below = f"{at}.{key}".strip(".")
    if isinstance(base, list):
        place = _place_in(base, key, name, at)
        changed = _laid_at(base[place], rest, value, name, below)
        return [*base[:place], merge(base[place], changed), *base[place + 1 :]]
    held = base.get(key) if isinstance(base, Mapping) else None
    if held is None and rest and rest[0].isdecimal():
        raise SpecError(
            f"{name}: {below}: holds no list here that a number could be of; write the whole "
            f"list, as --set '{below}=[...]'"
        )
    return {key: _laid_at(held, rest, value, name, below)}


def _place_in(items: list[Any], key: str, name: str, at: str) -> int:
    """Return the place in a list that a key of --set names."""
    places = {str(place): place for place in range(len(items))}
    if key in places:
        return places[key]
    have = f"0 to {len(items) - 1}" if items else "nothing yet"
    raise SpecError(
        f"{name}: {at}: value {shorten(key)}: is no place in this list; there are {have}, "
        f"or write the whole list, as --set '{at}=[...]'"
    )


@cache
def _shipped(folder: str, name: str) -> Tree:
    return read_documents(shipped_text(folder, name), f"{name}.yaml")[0]


def _without(tree: Tree, *keys: str) -> Tree:
    return replace(tree, data={k: v for k, v in tree.data.items() if k not in keys})


def _refused(tree: Tree, key: str, value: object, message: str) -> Tree:
    """Note a name that is not known, and go on with any, to find what else is wrong."""
    problem = Problem(path=(key,), message=message, value=value)
    known = {"preset": presets, "model": models}[key]()[0]
    return replace(tree, data={**tree.data, key: known}, problems=[*tree.problems, problem])


def _with_preset(tree: Tree) -> Tree:
    name = tree.data.get("preset")
    if "preset" not in tree.data:
        return tree
    if name not in presets():
        message = f"is unknown; {nearest(name, presets())}"
        return _with_preset(_refused(tree, "preset", name, message))
    base = _unwrapped(_copy(_shipped("presets", name)), "Cluster")
    return base.under(_without(tree, "preset"))


def _with_settings(tree: Tree) -> Tree:
    """Resolve the cluster of a scenario, and lay its named tuning under its settings."""
    tree = _with_part(tree, "cluster", _cluster_tree(tree))
    network = tree.alone("network") if "network" in tree.data else Tree(data={})
    if not isinstance(network.data, Mapping):
        return tree
    network = _with_routes(network)
    given = tree.alone("cluster", "fabric", "settings", "settings")
    named = network.data.get("preset", _tuning_of(tree.data.get("cluster")))
    if named is None and not _is_map(given.data):
        return tree
    if _is_map(given.data) and "preset" not in network.data:
        base = given
    elif str(named).endswith(_DOCUMENTS):
        base = _with_routes(_settings_alone(_tuning_file(str(named), tree.folder or File())))
    elif named not in tunings():
        message = f"is unknown; {nearest(named, tunings())}"
        network.problems = [Problem(path=("preset",), message=message, value=named)]
        base = Tree(data={})
    else:
        base = _settings_alone(_tuning_file(named, File()))
        if "preset" not in network.data and get_at(tree.data, _BALANCING) is not None:
            base = _without(base, "balancing")  # the cluster says it, and nothing else does
    if network.data.get("congestion") not in (None, base.data.get("congestion")):
        base = _without(base, "knobs")  # they are those of another control
    return _with_part(tree, "network", base.under(_without(network, "preset")))


def _with_routes(network: Tree) -> Tree:
    """Find the forwarding tables from the folder of the file that names them."""
    written = network.data.get("routes")
    names = [written] if isinstance(written, str) else written
    if not names or not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        return network
    if "balancing" not in network.data:
        message = "names tables that nothing follows; write balancing: static beside it"
        network.problems = [
            *network.problems, Problem(path=("routes",), message=message, has_value=False)
        ]  # fmt: skip
    found = [str(((network.folder or File()) / name).resolve()) for name in names]
    return replace(network, data={**network.data, "routes": found})


def _tuning_file(name: str, folder: File) -> Tree:
    """Return the document of named settings, or of a file."""
    if name in tunings():
        return _copy(_shipped("tunings", name))
    if not name.endswith(_DOCUMENTS):
        raise UnknownName(
            f"no settings are called {name!r}, and a file of them ends in .yaml or .yml; "
            f"{nearest(name, tunings())}"
        )
    path = folder / name
    trees = read_documents(read_text(path), str(path), path.parent)
    found = [t for t in trees if _is_map(t.data) and t.data.get("kind") == _SETTINGS]
    if found:
        return _only(found, _SETTINGS, str(path))
    raise SpecError(_no_settings(trees, path))


def _no_settings(trees: list[Tree], path: File) -> str:
    """Say what a file holds in the place of settings."""
    wanted = (
        f"settings of switches and NICs are a document of kind {_SETTINGS}, as "
        "`weft tune --save FILE` writes it"
    )
    for tree in trees:
        if _is_map(tree.data) and "kind" in tree.data:
            message = f"is not what is asked for here; {wanted}"
            problem = Problem(path=("kind",), message=message, value=tree.data["kind"])
            return tree.lines([problem])[0]
    return f"{path}: holds no such document; {wanted}"


def _settings_alone(tree: Tree) -> Tree:
    return _without(_unwrapped(tree, _SETTINGS), "name")


def _tuning_name(tree: Tree) -> str:
    named = (tree.data.get("metadata") or {}).get("name")
    return str(named) if named else "tuning"


def _record(tree: Tree) -> TuningRecord | None:
    """Return how the settings were found, where the document says so."""
    written = (tree.data.get("metadata") or {}).get("record")
    if written is None:
        return None
    built = build(TuningRecord, written)
    if isinstance(built, TuningRecord):
        return built
    raise_all(tree.lines([problem.under("metadata", "record") for problem in built]))
    return None


def _with_tuning(tree: Tree) -> Tree:
    """Put what a settings file holds in the place of its name in ``fabric.settings``."""
    fabric = tree.data.get("fabric")
    written = fabric.get("settings") if isinstance(fabric, Mapping) else None
    if not isinstance(written, str):
        return tree
    below = _tuning_file(written, tree.folder or File())
    settings, record = _settings_alone(below), _record(below)
    part: dict[str, Any] = {"name": _tuning_name(below), "settings": settings.data}
    if record is not None:
        part["record"] = record.model_dump(mode="json")
    marks = {("settings", *p): mark for p, mark in settings.marks.items()}
    tuned = Tree(data=part, marks=marks, folder=tree.folder)
    return _with_part(tree, "fabric", _with_part(tree.alone("fabric"), "settings", tuned))


def _with_base(tree: Tree) -> Tree:
    return _with_tuning(_with_preset(tree))


def _cluster_tree(tree: Tree) -> Tree:
    """Return the cluster of a scenario: a preset's name, a file, or what is written out."""
    written = tree.data.get("cluster")
    if not isinstance(written, str):
        cluster = tree.alone("cluster")
        return _with_base(cluster) if isinstance(written, Mapping) else cluster
    if written.endswith((".yaml", ".yml")):
        file = (tree.folder or File()) / written
        return _resolved(_pick(_documents(file), "Cluster", str(file)), "Cluster", ())
    data = {"preset": written}
    marks: dict[tuple[str, ...], str] = {("preset",): tree.marks.get(("cluster",), "")}
    return _with_base(Tree(data=data, marks=marks, folder=tree.folder))


def _tuning_of(cluster: object) -> str | None:
    """Name the settings that go with a cluster's fabric, where there are any."""
    fabric = cluster.get("fabric") if isinstance(cluster, Mapping) else None
    kind = fabric.get("kind") if isinstance(fabric, Mapping) else None
    tuning = fabric.get("tuning", "tuned") if isinstance(fabric, Mapping) else None
    return next((n for n in (f"{kind}_{tuning}", kind) if n in tunings()), None)


def _with_part(tree: Tree, key: str, part: Tree) -> Tree:
    """Put a part, resolved on its own, in the place of a key; its marks move below it."""
    if key not in tree.data and not part.data:
        return tree
    marks = {(key, *p): mark for p, mark in part.marks.items() if p}
    keys = {(key, *p): mark for p, mark in part.keys.items() if p}
    problems = [replace(p.under(key), place=p.place or part.place(p)) for p in part.problems]
    return replace(
        tree, data={**tree.data, key: part.data}, marks={**tree.marks, **marks},
        keys={**tree.keys, **keys}, problems=tree.problems + problems,
    )  # fmt: skip


def _with_model(tree: Tree) -> Tree:
    """Replace a model's name or file by its fields, and lay what is written over them."""
    written = tree.data.get("model")
    over = Tree(data={})
    name = written
    if isinstance(written, Mapping):
        over = tree.alone("model")
        name = written.get("preset", written.get("config"))
        if name is None:
            return tree
        over = _without(over, "preset", "config")
    if not isinstance(name, str):
        return tree
    if not _is_model(name, tree.folder or File()):
        message = f"is unknown; {_nearest_model(name)}"
        return _with_model(_refused(tree, "model", name, message))
    try:
        base = _model_tree(name, tree.folder or File())
    except WeftError as error:
        problem = Problem(path=("model",), message=str(error), value=name)
        raise type(error)(tree.lines([problem])[0]) from error
    return _with_part(tree, "model", base.under(over))


def _model_tree(name_or_path: str | File, folder: File) -> Tree:
    name = str(name_or_path)
    if not _is_model(name, folder):
        raise UnknownName(f"model {name!r} is unknown; {_nearest_model(name)}")
    path = folder / name
    if is_file(path / _CONFIG):
        path /= _CONFIG
    elif (shipped := _shipped_model(name)) is not None:
        return _unwrapped(_copy(_shipped("models", shipped)), "Model")
    if path.suffix == ".json":
        from weft.spec.huggingface import read_config  # noqa: PLC0415 - few specs need it

        return Tree(data=read_config(path), marks={(): str(path)})
    return _unwrapped(_pick(_documents(path), "Model", str(path)), "Model")


def _shipped_model(name: str) -> str | None:
    return name if name in models() else hub.shipped_model(name)


def _is_model(name: str, folder: File) -> bool:
    if _shipped_model(name) is not None or name.endswith(_MODEL_FILES):
        return True
    return is_file(folder / name / _CONFIG)


def _nearest_model(name: str) -> str:
    known = hub.names() if "/" in name else models()
    near = nearest(name.replace("-", "_").lower() if "/" not in name else name, known)
    stop = "" if near.endswith("?") else "."
    return (
        f"{near}{stop} A model is a shipped name (`weft init --list`), a known name of the "
        "Hugging Face Hub, a config.json, its folder, or a file ending in .yaml"
    )


def _copy(tree: Tree) -> Tree:
    return Tree(data=merge({}, tree.data), marks=dict(tree.marks), keys=dict(tree.keys))


_LAYERS: Final[Mapping[str, Callable[[Tree], Tree]]] = {
    "Cluster": _with_base, "Job": _with_model, "Inference": _with_model,
    "Scenario": _with_settings,
}  # fmt: skip
"""What is laid under a document of each kind."""
