"""The questions to settle before a network is chosen, and the two specs that answers make.

Size now and later, the work, vendors, skill, hardware already owned, quoted costs and limits.
Every answer becomes a key of the cluster or of the job. Nothing is read or written here: a
front end asks and passes the answers as text.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from weft import catalogue, units
from weft.errors import SpecError
from weft.records import table
from weft.spec import checks
from weft.spec.cluster import Cluster
from weft.spec.inference import Inference
from weft.spec.load import load_inference, load_job, models, preset, presets
from weft.spec.problems import nearest, raise_all
from weft.spec.workload import Job

UNKNOWN: Final = "unknown"
NOTHING: Final = "none"
INFERENCE: Final = "inference"
Check = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question: its key, its words, what no answer means, and what an answer must be."""

    key: str
    words: str
    default: str
    check: Check
    """Raises ValueError with what is allowed."""
    work: str = ""
    """The only work that it is about; empty: all."""

    def applies(self, answers: Mapping[str, str]) -> bool:
        """Say whether it is to be asked after some answers."""
        return self.work in {"", answers.get("work")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an interview made: two specs, and what to ask weft next."""

    cluster: Cluster
    job: Job | Inference
    model: str
    notes: tuple[str, ...]


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValueError("a whole number, 1 or more")
    return int(text)


def _one_of(*names: str) -> Check:
    def check(text: str) -> str:
        if text not in names:
            raise ValueError(nearest(text, names))
        return text

    return check


def _ratio(text: str) -> float:
    number = text.removesuffix("%").strip()
    try:
        ratio = float(number) / (100 if text.endswith("%") else 1)
    except ValueError:
        ratio = -1
    if not 0 <= ratio <= 1:
        raise ValueError("a share such as 30% or 0.3, or unknown")
    return ratio


def _if_known(parse: Callable[[str], float]) -> Check:
    return lambda text: None if text == UNKNOWN else parse(text)


def _devices(text: str) -> dict[str, int]:
    """Return device counts of text such as ``qm9700=4, connectx7=64``; none is empty."""
    if text == NOTHING:
        return {}
    pairs = [part.strip().partition("=") for part in text.split(",")]
    known = [*catalogue.names("switches"), *catalogue.names("nics")]
    for name, _, count in pairs:
        if name not in known:
            raise ValueError(nearest(name, known))
        if not count.isdecimal() or int(count) < 1:
            raise ValueError("a name and a count for each device, as qm9700=4, or none")
    return {name: int(count) for name, _, count in pairs}


_ANSWERS: Final[Mapping[str, Check]] = {
    "whole number": _whole, "money": _if_known(units.parse_money),
    "time": _if_known(units.parse_time), "share": _if_known(_ratio), "devices": _devices,
    "preset": _one_of(*presets()), "model": _one_of(*models()),
}  # fmt: skip
_UNITS: Final = {"money": "USD", "time": "s"}


def _question(key: str, row: Mapping[str, Any]) -> Question:
    answer = row["answer"]
    check = _one_of(*answer) if isinstance(answer, list) else _ANSWERS[answer]
    return Question(
        key=key, words=row["words"], default=row["default"], check=check,
        work=row.get("work", ""),
    )  # fmt: skip


_ROWS: Final = table("weft.spec", "questions")
QUESTIONS: Final = tuple(_question(key, row) for key, row in _ROWS.items())


def outcome(answers: Mapping[str, str]) -> Outcome:
    """Turn answers (checked already) into a cluster, a job and what to ask next.

    A question that was not asked changes nothing: the preset stays as it is.
    """
    cluster = _cluster(answers)
    model = answers["model"]
    work = answers.get("work", "training")
    job: Job | Inference = (
        _service(cluster, answers) if work == INFERENCE else suggested_job(cluster, model, work)
    )
    notes = tuple(_notes(cluster))
    return Outcome(cluster=cluster, job=job, model=model, notes=notes)


def suggested_job(cluster: Cluster, model: str, work: str = "training") -> Job:
    """Return a job that fits the cluster: its batch divides for every data-parallel size."""
    sequences = 512 if work == "training" else 128
    batch = -(-sequences // cluster.gpus) * cluster.gpus
    fields: dict[str, object] = {"name": f"{model}-{work}".replace("_", "-"), "model": model}
    fields |= {"global_batch": batch, "parallelism": "auto"}
    if work == "fine_tuning":
        fields |= {"framework": "fsdp", "recompute": "full"}
    job = load_job(fields)
    raise_all(p.show("") for p in checks.pair_problems(cluster, job))
    return job


def _service(cluster: Cluster, answers: Mapping[str, str]) -> Inference:
    model = answers["model"]
    fields: dict[str, object] = {"name": f"{model}-inference".replace("_", "-"), "model": model}
    service = load_inference(fields | _set(answers))
    raise_all(p.show("") for p in checks.pair_problems(cluster, service))
    return service


def _cluster(answers: Mapping[str, str]) -> Cluster:
    base = preset(answers["preset"])
    changes: dict[str, object] = {}
    if "gpus" in answers:
        changes["hosts"] = -(-int(answers["gpus"]) // base.host.gpus)
    several = answers.get("vendors") == "yes" and base.fabric.kind == "infiniband"
    kind = "roce" if several else base.fabric.kind
    changes["fabric"] = {"kind": kind}
    if kind == "roce" and answers.get("roce_skill", "expert") != "expert":
        changes["fabric"] = {"kind": kind, "tuning": "default"}
    changes["prices"] = _set(answers, "prices")
    changes["constraints"] = _constraints(answers, base.host.gpus)
    return preset(answers["preset"], **changes)


def _constraints(answers: Mapping[str, str], host_gpus: int) -> dict[str, object]:
    limits = _set(answers, "constraints")
    if answers.get("vendors") == "yes":
        limits["min_vendors"] = 2
    if "roce_skill" in answers:
        limits["skills"] = {"roce": answers["roce_skill"]}
    owned = _devices(answers.get("owned", NOTHING))
    if owned:
        switches = catalogue.names("switches")
        limits["owned"] = {
            "switches": {name: n for name, n in owned.items() if name in switches},
            "nics": {name: n for name, n in owned.items() if name not in switches},
        }
    if answers.get("gpus_later", answers.get("gpus")) != answers.get("gpus"):
        limits["later_hosts"] = -(-int(answers["gpus_later"]) // host_gpus)
    return limits


def _set(answers: Mapping[str, str], part: str = "") -> dict[str, object]:
    """Return the fields of a part that are answers as they are; what is unknown sets none."""
    found: dict[str, object] = {}
    for key, row in _ROWS.items():
        owner, _, field = row.get("sets", "").rpartition(".")
        if field and owner == part:
            value = _ANSWERS[row["answer"]](answers.get(key, row["default"]))
            unit = _UNITS.get(row["answer"])
            if value is not None:
                found[field] = value if unit is None else f"{value!r}{unit}"
    return found


def _notes(cluster: Cluster) -> Iterator[str]:
    files = "cluster.yaml job.yaml"
    yield f"Compare fabrics: weft compare {files}"
    later = cluster.constraints.later_hosts
    if later is not None:
        yield f"In 12 to 24 months: weft compare {files} --set hosts={later}"
    if cluster.fabric.tuning == "default":
        yield f"What tuning is worth: weft compare {files} --set fabric.tuning=tuned"


def check(question: Question, text: str) -> str:
    """Return an answer as it will be used, or say what is allowed."""
    answer = text.strip() or question.default
    try:
        question.check(answer)
    except ValueError as error:
        raise SpecError(f"{question.words} {answer!r} is no answer: {error}") from error
    return answer
