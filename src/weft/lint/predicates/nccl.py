"""Predicates on variables of NCCL."""

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

import re2

from weft.lint.addresses import interface_of, network_of
from weft.lint.document import whole
from weft.lint.facts import (
    Address,
    Interfaces,
    Launch,
    Map,
    Mapped,
    Mark,
    Network,
    Option,
    Variable,
    Workload,
)
from weft.lint.names import names, wrong_form
from weft.lint.quality import DSCPS, ECN_BITS
from weft.lint.rule import Case, Found, Severity, grouped, path_of, problem
from weft.lint.variables import RENAMED, Known, documented, exists, version


def nccl_adapter_count(case: Case) -> Found:
    for variable in case.variables("NCCL_IB_HCA"):
        if not variable.value.startswith("=") or "$" in variable.value:
            continue
        named = {entry.partition(":")[0] for entry in variable.value[1:].split(",")}
        yield from _against_cluster(case, variable, named)
        yield from _against_rails(case, variable, named)


def _against_cluster(case: Case, one: Variable, named: set[str]) -> Found:
    if case.cluster is None:
        return
    nics = case.cluster.cluster.host.nics
    if len(named) != nics:
        yield problem("cluster", one, case.cluster, named=named, nics=nics)


def _against_rails(case: Case, one: Variable, named: set[str]) -> Found:
    rows = case.rails
    devices = {row.port for row in rows}
    missing = sorted(devices - named)
    if rows and missing:
        first = next(row for row in rows if row.port == missing[0])
        yield problem("missing", one, first, names=missing)
    unknown = sorted(named - devices)
    if rows and unknown:
        yield problem("unknown", one, rows[0], names=unknown)


_NCCL_ADAPTER_LIST_MOST: Final = 32


def nccl_adapter_list(case: Case) -> Found:
    for variable in case.variables("NCCL_IB_HCA"):
        if "$" in variable.value:
            continue
        wrong = _nccl_adapter_list_wrong(variable.value)
        if wrong:
            yield problem("wrong", variable, wrong=wrong)
            continue
        loose = _loose(variable.value.strip())
        if loose:
            yield problem("loose", variable, loose=loose)


def _nccl_adapter_list_wrong(value: str) -> str:
    entries = value.strip().lstrip("^=").split(",")
    repeated = [text for text, count in Counter(entries).items() if count > 1]
    wrong = wrong_form(value.strip(), "adapters")
    if wrong or (not repeated and len(entries) <= _NCCL_ADAPTER_LIST_MOST):
        return wrong
    if repeated:
        return f"{repeated[0]} stands twice"
    return f"{len(entries)} entries; NCCL takes {_NCCL_ADAPTER_LIST_MOST}"


def _loose(value: str) -> str:
    if value.startswith(("=", "^=")):
        return ""
    entries = value.removeprefix("^").split(",")
    caught = [(a, b) for a in entries for b in entries if a != b and b.startswith(a)]
    if caught:
        return f"{caught[0][0]} is a prefix and takes {caught[0][1]} as well"
    if any(re2.search(r"_1$", entry) for entry in entries):
        return "without = a name is a prefix: mlx5_1 takes mlx5_10 as well"
    return ""


_TESTS: Final = ("_perf", "ib_write_bw", "ib_read_bw", "ib_send_bw", "nccl-tests")


def nccl_debug_left_on(case: Case) -> Found:
    tests = {
        launch.device or path_of(launch)
        for launch in case.of(Launch)
        if any(word.endswith(_TESTS) for word in launch.words)
        or (launch.device and any("nccl-tests" in word for word in launch.words))
    }
    for variable in case.of(Variable):
        said, testing = _said(variable), (variable.device or path_of(variable)) in tests
        if said and not testing:
            light = variable.name == "NCCL_DEBUG" and variable.value.strip().upper() == "INFO"
            yield problem(
                "debug", variable, said=said, severity=Severity.INFO if light else None
            )


def _said(one: Variable) -> str:
    value = one.value.strip().upper()
    rows = names("variables.debugging").get(one.name, {})
    return next((words for pattern, words in rows.items() if re2.fullmatch(pattern, value)), "")


_AUTOMATIC: Final = (2, 21)


def nccl_gid_by_hand(case: Case) -> Found:
    if case.fabric == "infiniband" or (case.nccl is not None and case.nccl < _AUTOMATIC):
        return
    for variable in case.variables("NCCL_IB_GID_INDEX"):
        index = whole(variable.value)
        if index is None or index < 0:
            continue
        wrong = case.fabric == "roce" or index == 0
        severity = Severity.WARNING if wrong else Severity.INFO
        yield problem("by_hand", variable, index=index, severity=severity)


_VERSIONS = {"AF_INET": 4, "AF_INET6": 6}


def nccl_gid_selection(case: Case) -> Found:
    rails = case.rails
    versions = {known.version for rail in rails if (known := interface_of(rail.address))}
    for variable in case.variables("NCCL_IB_ADDR_FAMILY"):
        wanted = _VERSIONS.get(variable.value)
        if wanted and versions and wanted not in versions:
            yield problem("family", variable, rails[0], least=min(versions))
    for variable in case.variables("NCCL_IB_ADDR_RANGE"):
        yield from _range(variable, rails)


def _range(one: Variable, rails: list[Address]) -> Found:
    network = network_of(one.value)
    if network is None:
        yield problem("prefix", one)
        return
    known = [(rail, own.ip) for rail in rails if (own := interface_of(rail.address))]
    outside = [rail for rail, address in known if address not in network]
    if outside:
        yield problem("outside", one, outside[0], outside=outside, known=known)


def nccl_newer_variable(case: Case) -> Found:
    if case.nccl is None:
        return
    in_use = ".".join(map(str, case.nccl))
    for variable in case.of(Variable):
        known = documented().get(variable.name)
        if known is not None and known.since > case.nccl:
            came = ".".join(map(str, known.since))
            yield problem("newer", variable, came=came, in_use=in_use)


def nccl_not_exported(case: Case) -> Found:
    of_shells = [variable for variable in case.of(Variable) if variable.exported is not None]
    named = (shell for shell in of_shells if shell.name.startswith("NCCL_"))
    for name, rows in grouped(named, path_of).items():
        exported = {row.name: row for row in rows if row.exported}
        if not exported or _exports_all(rows):
            continue
        for row in rows:
            later = _named_later(row)
            if not row.exported and row.name not in exported and not later:
                yield problem("not_exported", row, next(iter(exported.values())), name=name)


def _exports_all(rows: list[Variable]) -> bool:
    return any(line.strip() in _ALL for line in rows[0].at.text.lines)


_ALL = frozenset({"set -a", "set -o allexport"})


def _named_later(one: Variable) -> bool:
    """Return whether a line hands the variable on by name: export NAME, -x NAME."""
    others = (line for n, line in enumerate(one.at.text.lines, 1) if n != one.at.line)
    return any(one.name in line for line in others)


def nccl_removed_variable(one: Variable, case: Case) -> Found:
    known = documented().get(one.name)
    if known is None or not known.ended:
        return
    since = version(known.ended)
    if case.nccl is None or since <= case.nccl:
        yield problem("removed", one, known=known)


def nccl_renamed_variable(one: Variable) -> Found:
    new = RENAMED.get(one.name)
    if new is not None:
        yield problem("renamed", one, new=new)


_MANAGEMENT: Final = 15


def nccl_service_level(case: Case) -> Found:
    for variable in case.variables("NCCL_IB_SL"):
        level = whole(variable.value)
        if level is None or not 0 <= level <= _MANAGEMENT:
            continue
        if level:
            off = [o for o in case.options("opensm", "qos") if o.value.upper() != "TRUE"]
            unsaid = case.options("opensm") and not case.options("opensm", "qos")
            if off or unsaid:
                yield problem("off", variable, *off[:1], level=level)
        yield from _lane(case, variable, level)


def _lane(case: Case, one: Variable, level: int) -> Found:
    for row in case.options("opensm", "qos_sl2vl"):
        lanes = [whole(part) for part in row.value.split(",")]
        lane = lanes[level] if level < len(lanes) else None
        if lane is not None and lane >= _lanes(case, row):
            yield problem("dropped", one, row, level=level, lane=lane)
        elif level and lane == 0:
            yield problem("lane_0", one, row, level=level)


def _lanes(case: Case, row: Option) -> int:
    own = [o for o in case.options("opensm", "qos_max_vls") if o.device == row.device]
    count = whole(own[0].value) if own else None
    return count if count is not None else _MANAGEMENT


_OWN: Final = frozenset(names("variables.of_places"))
"""What may well differ from place to place."""


def nccl_settings_differ(case: Case) -> Found:
    of_nccl = [variable for variable in case.of(Variable) if variable.name.startswith("NCCL_")]
    known = (
        variable
        for variable in of_nccl
        if variable.name not in _OWN and "$" not in variable.value
    )
    for name, found in grouped(known, lambda variable: variable.name).items():
        wide = [variable for variable in found if variable.everywhere or not variable.device]
        values = {variable.value.strip() for variable in wide}
        files = {variable.at.text.name for variable in wide}
        # One script may try several values, one after another.
        if len(values) > 1 and len(files) > 1 and _together(wide):
            first = next(
                variable for variable in wide if variable.value.strip() != wide[0].value.strip()
            )
            yield problem("places", first, wide[0], name=name)
        yield from _hidden(name, found)


def _together(found: list[Variable]) -> bool:
    """Return whether the places are one cluster's: a conf among them, or one folder."""
    folders = {variable.at.text.parent for variable in found}
    return len(folders) == 1 or any(variable.everywhere for variable in found)


def _hidden(name: str, found: list[Variable]) -> Found:
    """Yield ranks of one job that disagree."""
    jobs: dict[str, Variable] = {}
    for variable in found:
        job = variable.device.partition(" ")[0]
        first = jobs.setdefault(job, variable) if job else variable
        if first.value.strip() != variable.value.strip():
            yield problem("ranks", variable, first, name=name, job=job)


_SOCKETS: Final = tuple(names("variables.of_sockets"))


def nccl_socket_rail(case: Case) -> Found:
    networks = {network.master: network for network in case.of(Network) if network.master}
    for variable in case.variables(*_SOCKETS):
        exact = "=" if variable.value.startswith("=") else ""
        entries = variable.value.removeprefix("=").split(",")
        named = [_selected(exact + entry, tuple(networks)) for entry in entries]
        if all(named):
            yield problem("rail", variable, networks[named[0][0]])


def nccl_socket_absent(case: Case) -> Found:
    in_pods = {
        workload.device for workload in case.of(Workload) if not workload.host_network
    } - {""}
    hosts = case.of(Interfaces)
    for variable in case.variables(*_SOCKETS):
        if (
            variable.value.startswith("^")
            or "$" in variable.value
            or variable.device in in_pods
        ):
            continue
        lacking = [host for host in hosts if not _selected(variable.value, host.names)]
        if lacking and len(lacking) == len(hosts):
            yield problem("none", variable, lacking[0])
        elif lacking:
            yield problem("some", variable, lacking[0])
        elif case.fabric == "tcp" and case.cluster and case.cluster.cluster.kubernetes:
            planned = case.cluster.cluster.kubernetes.interfaces
            if planned and not _selected(variable.value, planned):
                yield problem("planned", variable, case.cluster, planned=planned)


def _selected(value: str, interfaces: Sequence[str]) -> list[str]:
    """Return the interfaces that NCCL takes: entries are prefixes, unless = stands before."""
    if value.startswith("^"):
        return []
    texts = (entry.strip() for entry in value.removeprefix("=").split(","))
    entries = tuple(filter(None, texts))
    if value.startswith("="):
        return [name for name in interfaces if name in entries]
    return [name for name in interfaces if name.startswith(entries)]


def nccl_socket_interface(case: Case) -> Found:
    for variable in case.variables(*_SOCKETS):
        wrong = wrong_form(variable.value.strip(), "interfaces")
        if wrong and "$" not in variable.value:
            yield problem("wrong", variable, wrong=wrong)


_NCCL_SOCKET_THREADS_MOST: Final = 64


def nccl_socket_threads(case: Case) -> Found:
    threads = case.variables("NCCL_SOCKET_NTHREADS")
    sockets = case.variables("NCCL_NSOCKS_PERTHREAD")
    for thread in threads:
        for other in sockets:
            product = (whole(thread.value) or 0) * (whole(other.value) or 0)
            if thread.device == other.device and product > _NCCL_SOCKET_THREADS_MOST:
                yield problem("product", thread, other, product=product)


_CONGESTED: Final = 3
_USUAL: Final = frozenset({24, 26, 34, 46, 48})
"""Classes that switches keep apart where nobody says which."""


def nccl_traffic_class(case: Case) -> Found:
    if case.fabric == "infiniband":
        return
    classes = case.variables("NCCL_IB_TC", "NCCL_IB_FIFO_TC")
    jobs = [(variable, variable.name, whole(variable.value)) for variable in classes]
    hosts = [(mark, mark.tool, mark.traffic_class) for mark in case.of(Mark)]
    for fact, name, value in [*jobs, *hosts]:
        if value is None:
            continue
        if value > 255 or value < 0:  # noqa: PLR2004 - a byte
            yield problem("byte", fact, name=name, value=value)
        elif value % ECN_BITS == _CONGESTED:
            yield problem("congested", fact, name=name, value=value, value_2=value - 1)
        elif 0 < value < DSCPS and _is_dscp(case, value):
            read, meant = value // ECN_BITS, value * ECN_BITS + 2
            yield problem("dscp", fact, name=name, value=value, value_2=read, value_3=meant)
        elif value == 1 or value % ECN_BITS == 1:
            yield problem("ect1", fact, name=name, value=value, value_2=value + 1)


def _is_dscp(case: Case, value: int) -> bool:
    """Return whether a number is a class of its own as a DSCP, and not as a traffic class."""
    rows = [mapped for mapped in case.of(Mapped) if mapped.kind is Map.DSCP_TO_CLASS]
    said = {row.source for row in rows if row.target != 0} if rows else _USUAL
    return value in said and value // ECN_BITS not in said


def is_read(one: Variable) -> bool:
    """Return whether the script that sets a variable reads it itself."""
    text = one.at.text.content
    return f"${one.name}" in text or f"${{{one.name}" in text


def nccl_unknown_variable(one: Variable) -> Found:
    named = one.name.startswith("NCCL_") and one.name not in RENAMED
    if named and not exists(one.name) and not is_read(one):
        near = get_close_matches(one.name, documented(), n=1, cutoff=0.8)
        meant = f"write {near[0]}, if that is meant" if near else "remove it"
        yield problem("unread", one, meant=meant)


_RANGE: Final = re2.compile(r"(\d+)\.\.(\d+)")
_CHOICES: Final = re2.compile(r"[A-Za-z0-9_:]+(?:, [A-Za-z0-9_:]+)+")
_LEVELS: Final = frozenset({"0", "1", "2", "3", "4", "5"})
_NUMBERS: Final = frozenset({"int", "int32", "int64", "uint64", "bytes", "bool"})


def nccl_value(one: Variable) -> Found:
    known = documented().get(one.name)
    if known is None or not one.value or "$" in one.value:
        return
    wrong = _nccl_value_wrong(known, one.value.strip())
    if wrong:
        yield problem("wrong", one, wrong=wrong, known=known)


def _nccl_value_wrong(known: Known, value: str) -> str:
    if known.kind in _NUMBERS:
        return _wrong_number(known, value)
    if known.kind != "enum" or ":" in known.accepted:
        return ""
    words = re2.sub(r"\(.*", "", known.accepted).strip()
    if _CHOICES.fullmatch(words) and value.upper() not in words.upper().split(", "):
        legacy = "legacy" in known.accepted and value in _LEVELS
        return "" if legacy or value.upper() == "ABORT" else "is none of its words"
    return ""


def _wrong_number(known: Known, value: str) -> str:
    digits = whole(value)
    if digits is None:
        return "is not a number, and NCCL reads 0"
    if known.kind == "bool":
        return "" if digits in {0, 1} else "is neither 0 nor 1"
    span = _RANGE.match(known.accepted)
    if span and not int(span[1]) <= digits <= int(span[2]) and "-1" not in known.accepted:
        return f"lies outside {span[1]} to {span[2]}"
    if known.accepted.startswith((">0", ">=1")) and digits < 1:
        return "is to be 1 or more"
    choices = re2.fullmatch(r"\d(?:, \d)+", known.accepted)
    return "is none of its values" if choices and value not in known.accepted else ""
