"""The questions to settle before a network is chosen, and the two specs that answers make.

Size now and later, what is run and how latency-sensitive it is, the share of time spent in
communication, breadth of vendors, skill to tune RoCE, quoted costs. Nothing is read or
written here: a front end asks, and hands the answers over as text.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from weft import units
from weft.errors import SpecError
from weft.spec import checks
from weft.spec.cluster import Cluster
from weft.spec.load import load_job, models, preset, presets
from weft.spec.problems import nearest, raise_all
from weft.spec.workload import Job

UNKNOWN: Final = "unknown"
Check = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question: its key, its words, what no answer means, and what an answer must be."""

    key: str
    words: str
    default: str
    check: Check
    """Raises ValueError with what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an interview made: two specs, and what to ask weft next."""

    cluster: Cluster
    job: Job
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


def _ratio(text: str) -> float | None:
    if text == UNKNOWN:
        return None
    number = text.removesuffix("%").strip()
    try:
        ratio = float(number) / (100 if text.endswith("%") else 1)
    except ValueError:
        ratio = -1
    if not 0 <= ratio <= 1:
        raise ValueError("a share such as 30% or 0.3, or unknown")
    return ratio


def _money(text: str) -> float | None:
    return None if text == UNKNOWN else units.parse_money(text)


QUESTIONS: Final = (
    Question(
        key="preset", words="Which system (GPU type and servers)?", default="dgx_h100",
        check=_one_of(*presets()),
    ),
    Question(key="gpus", words="How many GPUs now?", default="128", check=_whole),
    Question(
        key="gpus_later", words="How many GPUs in 12 to 24 months?", default="128", check=_whole
    ),
    Question(
        key="model", words="Which model?", default="llama3_70b",
        check=_one_of(*models()),
    ),
    Question(
        key="work", words="What is run: training, fine_tuning or inference?",
        default="training", check=_one_of("training", "fine_tuning", "inference"),
    ),
    Question(
        key="latency", words="Is it sensitive to latency (yes or no)?", default="yes",
        check=_one_of("yes", "no"),
    ),
    Question(
        key="communication", default=UNKNOWN, check=_ratio,
        words="Which share of the run time is communication (30%, or unknown)?",
    ),
    Question(
        key="vendors", words="Must several vendors be able to supply it (yes or no)?",
        default="no", check=_one_of("yes", "no"),
    ),
    Question(
        key="roce_skill", words="Who can tune RoCE (PFC, ECN, DCQCN): none, some or expert?",
        default="some", check=_one_of("none", "some", "expert"),
    ),
    Question(
        key="switch", words="Quoted price of a switch (38000USD, or unknown)?",
        default=UNKNOWN, check=_money,
    ),
    Question(
        key="optic", words="Quoted price of an optic (900USD, or unknown)?",
        default=UNKNOWN, check=_money,
    ),
    Question(
        key="support", words="Support a year, as a share of the price (10%, or unknown)?",
        default=UNKNOWN, check=_ratio,
    ),
    Question(
        key="limit", words="Limit for the network, with room to expand (5MUSD, or unknown)?",
        default=UNKNOWN, check=_money,
    ),
)  # fmt: skip


def outcome(answers: Mapping[str, str]) -> Outcome:
    """Turn answers (checked already) into a cluster, a job and what to ask next.

    A question that was not asked changes nothing: the preset stays as it is.
    """
    cluster = _cluster(answers)
    model = answers["model"]
    job = suggested_job(cluster, model, answers.get("work", "training"))
    notes = tuple(_notes(answers, cluster))
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


def _cluster(answers: Mapping[str, str]) -> Cluster:
    base = preset(answers["preset"])
    changes: dict[str, object] = {}
    if "gpus" in answers:
        changes["hosts"] = -(-int(answers["gpus"]) // base.host.gpus)
    several = answers.get("vendors") == "yes" and base.fabric.kind == "infiniband"
    kind = "roce" if several else base.fabric.kind
    changes["fabric"] = {"kind": kind}
    if kind != "infiniband" and answers.get("roce_skill", "expert") != "expert":
        changes["fabric"] = {"kind": kind, "tuning": "default"}
    changes["prices"] = _prices(answers)
    return preset(answers["preset"], **changes)


def _prices(answers: Mapping[str, str]) -> dict[str, object]:
    prices: dict[str, object] = {}
    for key, field in (("switch", "switch_usd"), ("optic", "optic_usd")):
        amount = _money(answers.get(key, UNKNOWN))
        if amount is not None:
            prices[field] = f"{amount!r}USD"
    support = _ratio(answers.get("support", UNKNOWN))
    if support is not None:
        prices["support_ratio_per_year"] = support
    return prices


def _notes(answers: Mapping[str, str], cluster: Cluster) -> Iterator[str]:
    files = "-f cluster.yaml -f job.yaml"
    yield f"Compare fabrics: weft compare {files}"
    later = -(-int(answers.get("gpus_later", cluster.gpus)) // cluster.host.gpus)
    if later != cluster.hosts:
        yield f"In 12 to 24 months: weft compare {files} --set hosts={later}"
    if answers.get("vendors") == "yes":
        yield "Several vendors must be able to supply: only Ethernet fabrics answer that."
    if cluster.fabric.tuning == "default":
        yield f"What tuning is worth: weft compare {files} --set fabric.tuning=tuned"
    if answers.get("latency") == "yes":
        yield "Latency matters: see small messages in weft expect -f cluster.yaml"
    communication = _ratio(answers.get("communication", UNKNOWN))
    if communication is not None:
        yield f"Measured share of communication: {communication:.0%}; weft predict {files}"
    if answers.get("work") == "inference":
        yield "weft predicts training; the job stands for the training before the inference."
    limit = _money(answers.get("limit", UNKNOWN))
    if limit is not None:
        yield f"Limit for the network: {limit:,.0f} USD; weft compare has its cost"


def check(question: Question, text: str) -> str:
    """Return an answer as it will be used, or say what is allowed."""
    answer = text.strip() or question.default
    try:
        question.check(answer)
    except ValueError as error:
        raise SpecError(f"{question.words} {answer!r} is no answer: {error}") from error
    return answer
