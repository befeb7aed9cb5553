"""What a kind of configuration is, and how its files get onto a disk."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any, Final

from weft import plugins
from weft.errors import SpecError, Unreadable
from weft.generate import targets
from weft.generate.plan import Feature, Plan
from weft.readers.rendered import BY_WEFT, MANIFEST
from weft.records import table
from weft.results import Provenance

ALL: Final = "all"
Files = Iterator[tuple[str, str]]
"""Paths below the target's folder, and their text."""


class Proof(StrEnum):
    """How far what a target writes is proven."""

    SOFTWARE = "read by the software that it is for"
    SCHEMA = "accepted by the published schema or parser"
    GOLDEN = "compared with a reviewed file only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One kind of configuration: what it can express, how it is written and proven."""

    title: str
    supports: frozenset[Feature]
    """Features of a plan that it can express; a plan with any other is refused."""
    needs: frozenset[Feature] = frozenset()
    """Features without which there is nothing to write (any one of them is enough)."""
    proofs: Mapping[str, Proof]
    """By kind of file."""
    refuses: Callable[[Plan], str | None] = lambda _: None
    """Why a plan cannot be written although its features can; none where it can."""
    applied: str = ""
    """How a file gets onto a switch, and what of the switch's own stays; empty where it is
    no whole configuration of a switch."""
    configures: bool = True
    """Whether the fabric, a host or a job reads it; else ``all`` leaves it out."""
    files: Callable[[Plan], Files]


def declared(name: str, **own: Any) -> Target:  # noqa: ANN401 - fields of a target
    """Return a target as its row of ``targets.toml`` has it, with what its module adds."""
    row = {"proofs": {}, "applied": "", **table("weft.generate", "targets")[name]}
    for key in ("supports", "needs"):
        row[key] = frozenset(Feature[item] for item in row.get(key, ()))
    row["proofs"] = {file: Proof[proof] for file, proof in row["proofs"].items()}
    row["applied"] = row["applied"].format(apply=row.pop("apply", ""))
    return Target(**{**row, **own})


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file of a configuration."""

    path: str
    """Below the folder that is written to; begins with the name of the target."""
    sha256: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """How far one kind of file of a target is proven."""

    target: str
    file: str
    proof: Proof


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """How the files of a target get onto switches."""

    target: str
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A target that cannot write the plan, where all were asked for."""

    target: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Every file of some targets, for one plan."""

    cluster: str
    files: tuple[File, ...]
    proofs: tuple[Proven, ...]
    applied: tuple[Applied, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    """Of all targets, where all were asked for."""
    folder: str = ""
    """Where the files were written; empty before."""
    provenance: Provenance


def target_names() -> list[str]:
    """List the targets."""
    return plugins.names(targets)


def suitable(plan: Plan) -> list[str]:
    """List the targets that can write a plan."""
    return [name for name in target_names() if reason_against(name, plan) is None]


def reason_against(name: str, plan: Plan) -> str | None:
    """Return why a target cannot write a plan; None where it can."""
    target = plugins.load(targets, name, Target)
    kind = plan.cluster.fabric.kind
    if target.needs and not target.needs & plan.features:
        wanted = " or ".join(sorted(feature.value for feature in target.needs))
        if Feature.PROVIDER in plan.features:
            return f"{name} is for {wanted}; the provider runs this network"
        return f"{name} is for {wanted}; the fabric is {kind}"
    beyond = plan.features - target.supports
    if beyond:
        missing = ", ".join(sorted(feature.value for feature in beyond))
        return f"{name} cannot express {missing}"
    return target.refuses(plan)


def render(plan: Plan, names: Iterable[str]) -> Configuration:
    """Write out the files of some targets; refuse before anything is rendered.

    The name ``all`` stands for every target that configures the fabric, hosts or jobs and can
    write the plan;
    those that cannot are listed with the reason.
    """
    asked = list(dict.fromkeys(names))
    everything = asked == [ALL]
    chosen = suitable(plan) if everything else asked
    loaded = {name: plugins.load(targets, name, Target) for name in chosen}
    loaded = {name: t for name, t in loaded.items() if t.configures or not everything}
    against = [reason for name in loaded if (reason := reason_against(name, plan))]
    if against:
        known = ", ".join(suitable(plan)) or "none"
        raise SpecError(f"{'; '.join(against)}. Targets for this cluster: {known}")
    files = tuple(
        File(path=f"{name}/{path}", sha256=_sha256(text), text=text)
        for name, target in loaded.items()
        for path, text in target.files(plan)
    )
    return Configuration(
        cluster=plan.names.cluster.text(),
        files=files,
        proofs=tuple(_proven(loaded, files)),
        applied=tuple(Applied(target=text, how=how) for text, how in _applied(loaded).items()),
        left_out=_left_out(plan) if everything else (),
        provenance=plan.provenance,
    )


def _proven(loaded: Mapping[str, Target], files: Iterable[File]) -> Iterator[Proven]:
    """Yield how far each kind of file is proven; of a kind that was not written, nothing."""
    written = {(file.path.split("/")[0], file.path.split("/")[-1]) for file in files}
    for name, target in loaded.items():
        for kinds, proof in target.proofs.items():
            made = [k for k in kinds.split(", ") if (name, k.split("/")[-1]) in written]
            if made:
                yield Proven(target=name, file=", ".join(made), proof=proof)


def _applied(names: Iterable[str]) -> dict[str, str]:
    """Return how the files of targets get onto switches, where they do."""
    known = (name for name in names if name in target_names())
    hows = {name: plugins.load(targets, name, Target).applied for name in known}
    return {name: how for name, how in hows.items() if how}


def _left_out(plan: Plan) -> tuple[LeftOut, ...]:
    return tuple(
        LeftOut(target=name, reason=reason)
        for name in target_names()
        if (reason := reason_against(name, plan))
    )


def header(plan: Plan, what: str) -> str:
    """Return the first line of a file that has comments."""
    return f"# {what} of {plan.names.cluster.text()}{BY_WEFT}"


def write(configuration: Configuration, folder: Path, *, force: bool = False) -> Configuration:
    """Write a configuration into a folder: each file whole or not at all; return it so placed.

    All files are written beside their places first and renamed when the last one is there.
    Files of an earlier run that are no longer rendered are removed if nobody changed them.
    A file that no earlier run wrote, or that was changed since, is replaced only with
    ``force``; symbolic links below the folder are never followed. Raises Unreadable for both.
    """
    contents = {file.path: file.text for file in configuration.files}
    _check_links(folder, contents)
    before = _manifest(folder)
    if not force:
        _check_foreign(folder, contents, before)
    renewed = {path.partition("/")[0] for path in contents}
    kept = {
        path: sha
        for path, sha in before.items()
        if path.partition("/")[0] not in renewed and _sha256_of(folder / path) == sha
    }
    now = kept | {file.path: file.sha256 for file in configuration.files}
    how = _applied(sorted({path.partition("/")[0] for path in now}))
    manifest = json.dumps({"apply": how, "files": now}, indent=1, sort_keys=True) + "\n"
    with ExitStack() as waiting:
        pairs = []
        for path, text in (contents | {MANIFEST: manifest}).items():
            temporary = _beside(folder / path, text)
            waiting.callback(temporary.unlink, missing_ok=True)
            pairs.append((temporary, folder / path))
        for temporary, place in pairs:
            temporary.replace(place)
    for path in before.keys() - now.keys():
        if path.partition("/")[0] in renewed:
            _remove(folder / path, before[path])
    return replace(configuration, folder=str(folder))


def _check_links(folder: Path, paths: Iterable[str]) -> None:
    for path in (*paths, MANIFEST):
        below = (PurePosixPath(path), *PurePosixPath(path).parents)[:-1]
        for place in (folder / part for part in below):  # the folder itself was named
            if place.is_symlink():
                raise Unreadable(f"{place}: is a symbolic link; weft writes through none")


def _check_foreign(
    folder: Path, contents: Mapping[str, str], before: Mapping[str, str]
) -> None:
    """Raise Unreadable where a file would be lost that weft did not write as it now is."""
    foreign = [
        folder / path
        for path, text in contents.items()
        if _sha256_of(folder / path) not in {None, before.get(path), _sha256(text)}
    ]
    if foreign:
        more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise Unreadable(
            f"{foreign[0]}{more}: not written by weft, or changed since; move it away, or "
            "replace it with --force"
        )


def _sha256_of(file: Path) -> str | None:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None


def _beside(place: Path, text: str) -> Path:
    """Write a file beside its place; whoever calls renames or removes it."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        Path(name).chmod(0o755 if text.startswith("#!") else 0o644)
    except OSError as failure:
        raise Unreadable(f"{place}: cannot be written: {failure.strerror}") from failure
    return Path(name)


def _manifest(folder: Path) -> dict[str, str]:
    file = folder / MANIFEST
    if not file.is_file():
        return {}
    try:
        listed = json.loads(file.read_text("utf-8"))
        listed = listed.get("files", listed)  # of an earlier release: the files alone
        return {str(path): str(sha) for path, sha in listed.items() if _inside(str(path))}
    except (ValueError, AttributeError) as failure:
        raise SpecError(f"{file}: is not a manifest of weft; remove it") from failure


def _inside(path: str) -> bool:
    pure = PurePosixPath(path)
    return not pure.is_absolute() and ".." not in pure.parts


def _remove(file: Path, sha256: str) -> None:
    if not file.is_symlink() and _sha256_of(file) == sha256:
        file.unlink()
        if not any(file.parent.iterdir()):
            file.parent.rmdir()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
