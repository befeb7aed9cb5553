"""The ranks run different versions, or with different variables.

What it checks: versions and variables by rank; truncated messages and connections of the wrong
type, which such differences cause.
Why it matters: the ranks disagree about sizes and protocols: they hang, or stop with an error
that names neither.
What to do: one image for all; let the launcher pass the variables on (mpirun -x, srun
--export=ALL); mind /etc/nccl.conf on some hosts.
References: NCCL troubleshooting; Open MPI, mpirun -x.
"""

import re
from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Severity, Symptom, finding, suspect
from weft.observe.facts.base import Fact
from weft.observe.facts.collectives import CollectiveTimeout
from weft.observe.facts.communicators import CommunicatorRank
from weft.observe.facts.programs import Command, Setting, SoftwareVersion
from weft.observe.facts.verbs import TruncatedMessage

_LOOK = "NCCL_DEBUG=VERSION and env | grep NCCL on every rank; ls /etc/nccl.conf"
_MATTERS = (
    "NCCL_ALGO", "NCCL_PROTO", "NCCL_NET", "NCCL_IB_DISABLE", "NCCL_NSOCKS_PERTHREAD",
    "NCCL_SOCKET_NTHREADS", "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", "NCCL_BUFFSIZE",
    "NCCL_CROSS_NIC", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE", "NCCL_IB_QPS_PER_CONNECTION",
)  # fmt: skip
_AGREED = frozenset(
    {
        "NCCL_ALGO", "NCCL_PROTO", "NCCL_BUFFSIZE", "NCCL_LL_BUFFSIZE", "NCCL_LL128_BUFFSIZE",
        "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", "NCCL_MIN_CTAS", "NCCL_MAX_CTAS",
        "NCCL_NTHREADS",
    }
)  # fmt: skip
"""What all ranks must have alike, for it says who sends what to whom."""

_UNLIKE = (
    r"wrong type (?!3 != 4|4 != 3)\S+ !=|"
    r"mismatch(ed|ing)? (nccl )?version|nccl version mismatch|"
    r"unexpected (magic|type)|mismatch in (rank count|info) from procs|wrong magic \S+ !=|"
    r"ranks has already checked in|(req|resp)size is \d+ !=|mismatched response size|"
    r"with family 0 is neither|was compiled with (too old |nccl version).{0,120}running with|"
    r"version does not match with nvshmem|uid bootstrap version|nvshmem version in cumodule|"
    r"undefined symbol: p?nccl|version `?nccl_[\d.]+'? not found|versions are inconsistent"
)
_NOBODY_LISTENS = r"with family [1-9]\d* is neither"
"""A handle that the peer never filled in: it has not called what this rank waits for."""
_MOST_ELEMENTS_BYTES = 4096
_MPIRUN = re.compile(r"(?:^|[\s/])(?:mpirun|mpiexec|orterun)\s")
_PASSES_ALL = re.compile(r"\s-(?:ppn|perhost|genv\w*|hosts)\b")
"""Options of MPICH and Intel MPI, which pass on all variables by themselves [Hydra]."""
_NCCL = re.compile(r"\b(NCCL_(?!DEBUG)\w+)=")
_PASSED = re.compile(r"-x +(\w+)")
_SEVERAL_HOSTS = re.compile(r"(?:--host|-H|-host)[ =]\S+,|--?(?:machine|host)file\b|-N 1\b")


def _check(facts: Facts) -> Iterator[Finding]:
    wrong = job.said(facts, _UNLIKE)
    truncated: list[Fact] = [
        *facts.of(TruncatedMessage),
        *job.said(
            facts,
            r"message truncated|posted incorrect receive info|"
            rf"collective mismatch error, local size|{_NOBODY_LISTENS}",
        ),
    ]
    versions = _versions(facts)
    variables = _variables(facts)
    yield from _kept_back(facts)
    if not (wrong or truncated or versions):
        yield from _unlike_settings(facts)
        return
    if _of_the_program(facts) and not (wrong or versions or variables):
        yield _unlike_calls(truncated)
        return
    yield finding(
        "nccl-version-or-env-mismatch",
        [*wrong, *truncated, *versions, *variables],
        0.9 if versions and (wrong or truncated) else 0.75 if wrong or versions else 0.6,
        message="the ranks do not agree: other versions or other variables",
        advice="one image for all ranks, and variables passed on by the launcher to every host",
        next_command=_LOOK,
        missing=() if versions or variables else ("version and variables of every rank",),
        explains=(Symptom.CONNECT, Symptom.WATCHDOG, Symptom.LENGTH_ERROR),
        suspects=() if versions else (_NETWORKS,) if wrong else (_MISMATCH,),
    )


def _of_the_program(facts: Facts) -> bool:
    """Return whether messages differ as elements of two types do: few bytes, twice or so.

    What ranks tell each other to start differs by version; that does not pass a network, and
    the steps that algorithms send are large.
    """
    sizes = [
        (one.received_bytes, one.expected_bytes if "NET/" in one.evidence.text else 0)
        for one in facts.of(TruncatedMessage)
    ]
    unlike_types = [
        one for one in sizes
        if min(one) > 0 and max(one) <= _MOST_ELEMENTS_BYTES and max(one) in {
            min(one) << times for times in (1, 2, 3)
        }
    ]  # fmt: skip
    begun = any(one.complete for one in facts.of(CommunicatorRank))
    return (bool(sizes) and unlike_types == sizes) or (
        begun and bool(job.said(facts, _NOBODY_LISTENS))
    )


def _unlike_calls(seen: list[Fact]) -> Finding:
    return finding(
        "app-collective-mismatch",
        seen,
        0.6,
        message="a rank sends what its peer has not asked for: another type, count or order",
        advice="compare type, count and order of sends and receives of the two ranks; group "
        "those that depend on each other (ncclGroupStart)",
        next_command="NCCL_DEBUG_SUBSYS=COLL NCCL_DEBUG=INFO   # what each rank calls",
        explains=(Symptom.CONNECT, Symptom.WATCHDOG, Symptom.LENGTH_ERROR),
        suspects=(suspect("nccl-version-or-env-mismatch", 0.3),),
    )


def _kept_back(facts: Facts) -> Iterator[Finding]:
    """Find variables that ``mpirun`` was given for itself and does not pass on to all hosts."""
    for command in facts.of(Command):
        launcher = _MPIRUN.search(command.command)
        words = command.command[launcher.end() - 1 :] if launcher else ""
        if not launcher or not _SEVERAL_HOSTS.search(words) or _PASSES_ALL.search(words):
            continue
        own = command.command[: launcher.start()]
        passed = set(_PASSED.findall(words))
        kept = [name for name in _NCCL.findall(own) if name not in passed]
        if kept:
            yield finding(
                "nccl-version-or-env-mismatch",
                [command, *(one for name in kept for one in job.settings(facts, name))],
                0.65,
                severity=Severity.WARNING,
                message=f"mpirun keeps {', '.join(kept)} to its own host",
                advice="name every variable with -x, or set it in /etc/nccl.conf on all hosts",
                next_command="mpirun ... env | grep NCCL   # as each rank sees it",
                explains=(Symptom.CONNECT, Symptom.WATCHDOG),
            )


def _unlike_settings(facts: Facts) -> Iterator[Finding]:
    """Find ranks that were told to do the same in different ways."""
    waits = facts.of(CollectiveTimeout)
    found: dict[str, dict[str, dict[str, Setting]]] = {}
    for one in facts.of(Setting):
        if one.name in _AGREED and one.process.host and not one.ignored:
            hosts = found.setdefault(one.name, {})
            hosts.setdefault(one.process.host, {})[one.value.lower()] = one
    unlike: list[Fact] = [
        one
        for hosts in found.values()
        if len(hosts) > 1 and all(len(values) == 1 for values in hosts.values())
        and len({value for values in hosts.values() for value in values}) > 1
        for values in hosts.values()
        for one in values.values()
    ]  # fmt: skip
    if unlike and not job.worked_after(facts, unlike):
        yield finding(
            "nccl-version-or-env-mismatch",
            [*unlike, *waits],
            0.75 if waits else 0.6,
            severity=Severity.ERROR if waits else Severity.WARNING,
            message="the ranks have other variables: each expects another algorithm"
            + (", and they wait for each other" if waits else ""),
            advice="variables passed on by the launcher to every host, or unset on all",
            next_command=_LOOK,
            explains=(Symptom.WATCHDOG,),
        )


_NETWORKS = suspect("net-backend-mismatch", 0.3)
_MISMATCH = suspect("app-collective-mismatch", 0.4)


def _versions(facts: Facts) -> list[Fact]:
    """Return the versions of one library that differ between hosts, or files where unnamed."""
    found: dict[str, dict[str, SoftwareVersion]] = {}
    for one in facts.of(SoftwareVersion):
        if one.software.upper() in {"NCCL", "RCCL"}:
            place = one.process.host or one.evidence.file
            found.setdefault(one.software.upper(), {}).setdefault(place, one)
    unlike = [
        {one.version: one for one in places.values()} for places in found.values()
    ]  # fmt: skip
    return [one for versions in unlike if len(versions) > 1 for one in versions.values()]


def _variables(facts: Facts) -> list[Fact]:
    """Return variables that matter and that were set to more than one value, by whomever."""
    found: dict[str, dict[str, Setting]] = {}
    for one in facts.of(Setting):
        if one.name in _MATTERS and not one.ignored:
            found.setdefault(one.name, {}).setdefault(one.value, one)
    return [one for values in found.values() if len(values) > 1 for one in values.values()]


ranks_differ = Rule(
    causes=("nccl-version-or-env-mismatch", "app-collective-mismatch"), check=_check
)
