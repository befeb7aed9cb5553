"""Predicates on quality of service."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from weft.lint import facts
from weft.lint.document import whole
from weft.lint.names import names
from weft.lint.quality import CLASSES, ECN_BITS, target, traffic_classes
from weft.lint.rule import Case, Device, Found, MarkedQueue, path_of, problem, usual


def ecn_queue(switch: Device) -> Found:
    queues = switch.lossless_queues
    found = switch.marked
    if not queues or not switch.of(facts.Marking):
        on = [pause for pause in switch.of(facts.Pause) if pause.priorities]
        if queues:
            yield problem("none", *on)
        return
    for queue in sorted(queues):
        yield from _queue(switch, queue, [item for item in found if item.queue == queue])
    for item in found:
        if item.queue not in queues and item.marking.ecn and not _also(found, queues):
            yield problem("other_queue", item.use, one=item, least=min(queues))


def _also(found: list[MarkedQueue], queues: frozenset[int]) -> bool:
    return any(queue.queue in queues for queue in found)


def _queue(switch: Device, queue: int, own: list[MarkedQueue]) -> Found:
    if not own:
        shown: list[facts.Fact] = [u for u in switch.of(facts.QueueUse) if u.queue == queue]
        yield problem("no_profile", *(shown or switch.of(facts.Marking)), queue=queue)
        return
    off = [queue for queue in own if not queue.marking.ecn]
    if off:
        yield problem("off", off[0].marking, off[0].use, queue=queue)
    ports = {port for queue in own for port in queue.ports}
    if not ports:
        return
    for pause in switch.of(facts.Pause):
        missing = sorted(set(pause.ports) - ports) if pause.priorities else []
        if missing:
            uses = [use for use in switch.of(facts.QueueUse) if use.queue == queue]
            shown = [use for use in uses if missing[0] in use.ports]
            yield problem("port", *shown[:1], own[0].use, queue=queue, missing=missing)


def ecn_switches_differ(fleet: list[Device]) -> Found:
    rows: list[facts.Marking] = []
    for switch in fleet:
        queues = switch.lossless_queues
        rows += [queue.marking for queue in switch.marked if queue.queue in queues]
    common, _ = usual(map(_of, rows))
    shown = next((row for row in rows if _of(row) == common), None)
    if shown is None or _by_speed(fleet):
        return
    for marking in {row.at: row for row in rows}.values():
        if _of(marking) != common:
            yield problem("differs", marking, shown, usual=common)


def _of(one: facts.Marking) -> tuple[float | None, float | None, float | None]:
    return one.kmin_bytes, one.kmax_bytes, one.pmax_percent


def _by_speed(fleet: list[Device]) -> bool:
    """Return whether ports have several speeds, so that thresholds may well differ."""
    speeds = {port.speed_gbit for switch in fleet for port in switch.of(facts.Port)} - {None}
    return len(speeds) > 1


_FRAME_BYTES: Final = 9216


def ecn_thresholds(one: facts.Marking) -> Found:
    low, high = one.kmin_bytes, one.kmax_bytes
    name = f"ECN of {one.device} {one.name}".rstrip()
    if low is not None and high is not None and low >= high:
        yield problem("order", one, name=name, low=low, high=high)
    elif low is not None and 0 < low < _FRAME_BYTES:
        yield problem("frame", one, name=name, low=low)
    if one.ecn and (low is None) is not (high is None):
        missing = "Kmin" if low is None else "Kmax"
        yield problem("missing", one, name=name, missing=missing)
    chance = one.pmax_percent
    if chance is not None and not 0 < chance <= 100:  # noqa: PLR2004 - per cent
        yield problem("never", one, name=name, chance=chance)
    elif chance is not None and chance < 1:
        yield problem("rare", one, name=name, chance=chance)


def lossy_in_lossless(switch: Device) -> Found:
    classes = switch.paused
    groups = switch.table(facts.Map.PAUSE_TO_GROUP)
    lossless = {
        facts.Map.CLASS_TO_QUEUE: switch.lossless_queues,
        facts.Map.CLASS_TO_GROUP: {target(groups, number) for number in classes},
    }
    for kind, targets in lossless.items():
        rows = switch.table(kind)
        held = {target(rows, number) for number in classes}
        for source, row in rows.items() if classes else ():
            if source not in classes and row.target in targets & held:
                what = kind.value.rpartition(" to ")[2]
                yield problem("shared", row, source=source, what=what)


def port_without_qos(switch: Device) -> Found:
    pauses = [pause for pause in switch.of(facts.Pause) if pause.ports]
    lossless = {port: pause for pause in pauses if pause.priorities for port in pause.ports}
    if len(pauses) == len(switch.of(facts.Pause)) and lossless:
        yield from _unpaused(switch, {port for pause in pauses for port in pause.ports})
    yield from _unmapped(switch, lossless)
    yield from _buffers(switch, set(lossless))


def _unpaused(switch: Device, known: set[str]) -> Found:
    cabled = [port for port in switch.of(facts.Port) if port.peer]
    if sum(port.name in known for port in cabled) * 2 <= len(cabled):
        return
    for port in cabled:
        if port.name not in known:
            yield problem("port", port)


def _unmapped(switch: Device, lossless: dict[str, facts.Pause]) -> Found:
    for kind in facts.Map:
        uses = [use for use in switch.of(facts.MapUse) if use.kind is kind]
        if not uses or any(not use.ports for use in uses):
            continue
        mapped = {port for use in uses for port in use.ports}
        without = [port for port in lossless if port not in mapped]
        if without and len(without) * 2 < len(lossless):
            yield problem("map", lossless[without[0]], uses[0], without=without, kind=kind)


def _buffers(switch: Device, lossless: set[str]) -> Found:
    queues = switch.lossless_queues
    uses = [use for use in switch.of(facts.GroupUse) if not use.ingress and use.group in queues]
    by_port = {port: use for use in uses for port in use.ports if port in lossless}
    common, count = usual(use.profile for use in by_port.values())
    if not count or count * 2 <= len(lossless):
        return
    shown = next(use for use in uses if use.profile == common)
    for port in sorted(lossless):
        one = by_port.get(port)
        if one is None or one.profile != common:
            has = one.profile if one else "no profile"
            yield problem("buffer", one or shown, shown, port=port, has=has, usual=common)


_Rows = dict[int, facts.Mapped]
"""One map of labels, by what is mapped."""


def qos_class_and_queue(switch: Device) -> Found:
    lossless = switch.paused
    queues = switch.table(facts.Map.CLASS_TO_QUEUE)
    stops = queues, switch.table(facts.Map.PAUSE_TO_QUEUE)
    holds = switch.table(facts.Map.CLASS_TO_GROUP), switch.table(facts.Map.PAUSE_TO_GROUP)
    for priority in sorted(lossless):
        yield from _apart(priority, stops, "sends {} through queue", "queue")
        if any(holds):
            yield from _apart(priority, holds, "holds {} in group", "group")
    yield from _unreached(switch, lossless)
    for priority in sorted(lossless) if queues else ():
        yield from _shared(priority, lossless, queues)


def _apart(priority: int, maps: tuple[_Rows, _Rows], what: str, place: str) -> Found:
    """Yield a class that goes one way while PFC stops another."""
    goes, stopped = (target(rows, priority) for rows in maps)
    if goes != stopped:
        shown = [rows[priority] for rows in maps if priority in rows]
        value = what.format(f"class {priority}")
        yield problem("apart", *shown, value=value, goes=goes, place=place, stopped=stopped)


def _unreached(switch: Device, lossless: frozenset[int]) -> Found:
    """Yield lossless classes that no packet comes to."""
    classes = switch.table(facts.Map.DSCP_TO_CLASS)
    reached = {row.target for row in classes.values()}
    for priority in sorted(lossless - reached) if classes else ():
        shown = next(pause for pause in switch.of(facts.Pause) if priority in pause.priorities)
        yield problem("unreached", shown, priority=priority)


def _shared(priority: int, lossless: frozenset[int], queues: _Rows) -> Found:
    """Yield a lossless class whose queue a lossy class uses as well."""
    queue = target(queues, priority)
    others = (c for c in range(CLASSES) if c not in lossless and target(queues, c) == queue)
    other = next(others, None)
    if other is not None:
        shown = [queues[number] for number in (other, priority) if number in queues]
        yield problem("shared", *shown, other=other)


def qos_cnp_class(case: Case) -> Found:
    marks = [item for item in case.of(facts.Congestion) if item.name == "cnp_dscp"]
    priorities = [item for item in case.of(facts.Congestion) if item.name == "cnp_802p_prio"]
    for switch in case.switches:
        classes, lossless = switch.table(facts.Map.DSCP_TO_CLASS), switch.paused
        for mark in marks if classes and lossless else ():
            row = classes.get(mark.value)
            given = row.target if row else 0
            seen = [mark, *([row] if row else [])]
            if given in lossless:
                yield problem("shared", *seen, one=mark, given=given, switch=switch)
            elif given == 0:
                yield problem("best_effort", *seen, one=mark, switch=switch)
            else:
                yield from _turn(switch, mark, given)
    for mark in marks:
        row = case.host_map.get(mark.value)
        for priority in priorities:
            if row and row.target != priority.value:
                yield problem("differs", priority, row)


def _turn(switch: Device, one: facts.Congestion, given: int) -> Found:
    queue = target(switch.table(facts.Map.CLASS_TO_QUEUE), given)
    for fact, number, turn in _turns(switch):
        if number == queue and not turn.strict:
            yield problem("turns", fact, turn, one, queue=queue, switch=switch)
            return


def qos_congestion_priority(case: Case) -> Found:
    lossless = _lossless(case.host_pauses)
    enables = [item for item in case.of(facts.Congestion) if item.priority is not None]
    said = {(enable.name, enable.priority) for enable in enables}
    for enable in enables:
        if enable.value and lossless and enable.priority not in lossless:
            yield problem("other", enable, *case.host_pauses[:1], least=min(lossless))
        elif not enable.value and enable.priority in lossless:
            yield problem("off", enable, value=enable.name.removesuffix("_enable"))
    for name, other in (
        ("roce_np_enable", "roce_rp_enable"),
        ("roce_rp_enable", "roce_np_enable"),
    ):
        for enable in enables:
            if enable.name == name and enable.value and (other, enable.priority) not in said:
                yield problem("half", enable, name=name, other=other)


_RANGES: Final = dict(names("dcqcn.ranges"))
_CNPS_US: Final = 100


def qos_congestion_values(case: Case) -> Found:
    values: dict[str, facts.Congestion] = {}
    for item in case.of(facts.Congestion):
        span = _RANGES.get(item.name)
        values[item.name] = item
        if span and not span[0] <= item.value <= span[1]:
            yield problem("range", item, span=span)
        elif item.name == "min_time_between_cnps" and item.value > _CNPS_US:
            yield problem("slow", item)
    slow, fast = values.get("rpg_ai_rate"), values.get("rpg_hai_rate")
    if slow and fast and slow.value > fast.value:
        yield problem("exchanged", slow, fast)


def qos_host_and_switch(case: Case) -> Found:
    pauses, rows = case.host_pauses, case.host_map
    for switch in case.switches:
        on = [pause for pause in switch.of(facts.Pause) if pause.priorities]
        theirs = switch.paused
        for pause in pauses:
            if theirs and set(pause.priorities) != theirs:
                mine = set(pause.priorities)
                yield problem("pauses", pause, *on[:1], mine=mine, switch=switch, theirs=theirs)
        classes = switch.table(facts.Map.DSCP_TO_CLASS)
        for dscp, row in rows.items() if classes else ():
            given = classes[dscp].target if dscp in classes else 0
            apart = given != row.target
            if apart and ({given} & theirs or {row.target} & _lossless(pauses)):
                seen = [row, *([classes[dscp]] if dscp in classes else [])]
                yield problem("map", *seen, dscp=dscp, row=row, given=given, switch=switch)


def _lossless(pauses: list[facts.Pause]) -> frozenset[int]:
    return frozenset(priority for pause in pauses for priority in pause.priorities)


def qos_job_and_host(case: Case) -> Found:
    rows, pauses = case.host_map, case.host_pauses
    lossless = _lossless(pauses)
    for variable, value in traffic_classes(case):
        for mark in case.of(facts.Mark):
            mine, theirs = value // ECN_BITS, mark.traffic_class // ECN_BITS
            if mine != theirs:
                yield problem("class", variable, mark, value=mine, value_2=theirs)
        yield from _priority(variable, value // ECN_BITS, rows, pauses, lossless)
    for variable in case.variables("NCCL_IB_SL"):
        level = whole(variable.value)
        if lossless and level and level not in lossless:
            yield problem("level", variable, *pauses[:1], level=level, least=min(lossless))


def _priority(
    one: facts.Variable,
    dscp: int,
    rows: _Rows,
    pauses: list[facts.Pause],
    lossless: frozenset[int],
) -> Found:
    """Yield a DSCP whose priority is not paused; by default the NIC takes DSCP / 8."""
    priority = rows[dscp].target if dscp in rows else dscp // CLASSES
    if lossless and priority not in lossless:
        seen = [one, *([rows[dscp]] if dscp in rows else []), *pauses[:1]]
        yield problem("priority", *seen, dscp=dscp, priority=priority, least=min(lossless))


def qos_job_and_switch(case: Case) -> Found:
    labels: list[tuple[facts.Fact, str, int]] = [
        (variable, "NCCL_IB_TC", value // ECN_BITS) for variable, value in traffic_classes(case)
    ]
    yield from _unmarked(case)
    labels += [
        (mark, mark.tool, mark.traffic_class // ECN_BITS) for mark in case.of(facts.Mark)
    ]
    for switch in case.switches:
        lossless = switch.paused
        if not lossless or not switch.table(facts.Map.DSCP_TO_CLASS):
            continue
        for fact, name, dscp in labels:
            row = switch.table(facts.Map.DSCP_TO_CLASS).get(dscp)
            given = row.target if row else 0
            if given not in lossless:
                seen = [fact, *([row] if row else []), *switch.of(facts.Pause)[:1]]
                yield problem(
                    "class", *seen, name=name, dscp=dscp, switch=switch, given=given,
                    list=_and(lossless), least=min(lossless),
                )  # fmt: skip


def _unmarked(case: Case) -> Found:
    """Yield a lossless fabric that sorts by DSCP and whose jobs and hosts mark none."""
    jobs = [variable for variable in case.variables("NCCL_IB_HCA") if "$" not in variable.value]
    if list(traffic_classes(case)) or case.of(facts.Mark) or not jobs:
        return
    for switch in case.switches:
        rows = switch.table(facts.Map.DSCP_TO_CLASS)
        given = rows[0].target if 0 in rows else 0
        if rows and switch.paused and given not in switch.paused:
            seen, names = [jobs[0], *switch.of(facts.Pause)[:1]], _and(switch.paused)
            yield problem("unmarked", *seen, given=given, switch=switch, list=names)
            return


def _and(numbers: frozenset[int]) -> str:
    return " and ".join(str(number) for number in sorted(numbers))


def qos_switches_differ(fleet: list[Device]) -> Found:
    yield from _pauses(fleet)
    yield from _maps(fleet)


def _pauses(fleet: list[Device]) -> Found:
    rows = [pause for switch in fleet for pause in switch.of(facts.Pause)]
    counts = Counter[tuple[int, ...]]()
    for row in rows:
        counts[row.priorities] += max(1, len(row.ports))
    common = max((key for key in counts if key), key=lambda key: counts[key], default=())
    shown = next((row for row in rows if row.priorities == common), None)
    for row in rows:
        if common and shown and row.priorities != common:
            where = f"{row.device} {next(iter(row.ports), '')}".strip()
            yield problem("pauses", row, shown, where=where, names=common)


def _maps(fleet: list[Device]) -> Found:
    for kind in (facts.Map.DSCP_TO_CLASS, facts.Map.CLASS_TO_QUEUE, facts.Map.PAUSE_TO_QUEUE):
        tables = [rows for switch in fleet if (rows := switch.table(kind))]
        sources = {source for rows in tables for source in rows}
        for source in sorted(sources):
            common, _ = usual(
                rows[source].target if source in rows else None for rows in tables
            )
            for rows in tables:
                row, first = rows.get(source), next(iter(rows.values()))
                if row is not None and row.target != common:
                    yield problem("maps", row, kind=kind, source=source, usual=common)
                elif row is None:
                    yield problem("lacks", first, kind=kind, source=source, usual=common)


_SMALL: Final = 20
_ALL: Final = 100


def scheduler_shares(switch: Device) -> Found:
    queues = switch.lossless_queues
    turns = list(_turns(switch))
    for fact, queue, turn in turns:
        if queue in queues and turn.strict and _others_strict(turns) < len(turns):
            yield problem("strict", fact, turn, queue=queue)
        elif queue in queues and turn.weight is not None and turn.weight < _SMALL:
            yield problem("small", fact, turn, queue=queue)
    shares: dict[int, float] = {}
    for _, queue, turn in turns:
        shares[queue] = max(shares.get(queue, 0), 0 if turn.strict else turn.weight or 0)
    named, total = (
        any(scheduler.name for scheduler in switch.of(facts.Scheduler)),
        sum(shares.values()),
    )
    if turns and not named and total > _ALL:
        yield problem("sum", turns[0][0], total=total)


def _turns(switch: Device) -> Iterator[tuple[facts.Fact, int, facts.Scheduler]]:
    by_name = {
        scheduler.name: scheduler for scheduler in switch.of(facts.Scheduler) if scheduler.name
    }
    for use in switch.of(facts.QueueUse):
        if use.scheduler in by_name:
            yield use, use.queue, by_name[use.scheduler]
    for scheduler in switch.of(facts.Scheduler):
        if scheduler.queue is not None:
            yield scheduler, scheduler.queue, scheduler


def _others_strict(turns: list[tuple[facts.Fact, int, facts.Scheduler]]) -> int:
    return sum(turn.strict for _, _, turn in turns)


def trust_mode(case: Case) -> Found:
    if case.fabric == "infiniband":
        return
    by_dscp = bool(
        list(traffic_classes(case))
        or case.of(facts.Mark)
        or any(mapped.kind is facts.Map.DSCP_TO_CLASS for mapped in case.of(facts.Mapped))
    )
    lossless = {pause.device for pause in case.of(facts.Pause) if pause.priorities}
    yield from _unsaid(case, by_dscp=by_dscp)
    for trust in case.of(facts.Trust):
        ours = trust.side is facts.Side.HOST or trust.device in lossless
        if trust.mode != "dscp" and by_dscp and ours:
            where = (
                f"{trust.device} {trust.ports[0] if trust.ports else ''}".strip() or "the NIC"
            )
            yield problem("mode", trust, where=where)


def _unsaid(case: Case, *, by_dscp: bool) -> Found:
    """NICs trust 802.1p unless they are told otherwise."""
    said = set(map(path_of, case.of_hosts(facts.Trust)))
    rows = case.of_hosts(facts.Mapped)
    mapped = {path_of(row): row for row in rows if row.kind is facts.Map.DSCP_TO_CLASS}
    for pause in case.host_pauses if by_dscp else ():
        if path_of(pause) in mapped.keys() - said:
            yield problem("unsaid", pause, mapped[path_of(pause)])
