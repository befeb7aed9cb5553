"""The plug-ins as kernels call them: by number, through ladders written from the folders."""

from weft import plugins
from weft.engines.packet import balancing, congestion, recovery
from weft.kernel import ladder

CONTROLS = plugins.names(congestion)
BALANCINGS = plugins.names(balancing)
RECOVERIES = plugins.names(recovery)

_controls = [(f"{congestion.__name__}.{name}", name) for name in CONTROLS]
_balancings = [(f"{balancing.__name__}.{name}", name) for name in BALANCINGS]
_recoveries = [(f"{recovery.__name__}.{name}", name) for name in RECOVERIES]

on_begin = ladder("on_begin", "flow, knobs, line, now", _controls, "on_begin")
on_send = ladder("on_send", "flow, knobs, line, payload, now", _controls, "on_send")
on_ack = ladder(
    "on_ack", "flow, knobs, line, payload, marked, round_trip, now", _controls, "on_ack"
)
on_cnp = ladder("on_cnp", "flow, knobs, line, now", _controls, "on_cnp")
on_loss = ladder("on_loss", "flow, knobs, line, payload, now", _controls, "on_loss")
on_arrival = ladder(
    "on_arrival", "state, flow_id, payload, cut, marked, now", _controls, "on_arrival"
)
on_answer = ladder("on_answer", "state, flow_id, host", _controls, "on_answer")
on_grant = ladder("on_grant", "flow, knobs, granted", _controls, "on_grant")
on_clock = ladder("on_clock", "state, host, now", _controls, "on_clock")
pick_link = ladder("pick_link", "state, group, packet, link", _balancings, "pick")
choose_entropy = ladder("choose_entropy", "choice, entropies, row", _balancings, "choose")
learn_entropy = ladder(
    "learn_entropy", "choice, entropies, entropy, news", _balancings, "learn"
)
pick_sequence = ladder("pick_sequence", "state, flow", _recoveries, "pick_sequence")
on_data = ladder("on_data", "state, flow, packet", _recoveries, "on_data")
on_trimmed = ladder("on_trimmed", "state, flow, packet", _recoveries, "on_trimmed")
on_acknowledged = ladder("on_acknowledged", "state, flow, packet", _recoveries, "on_ack")
on_nack = ladder("on_nack", "state, flow, packet", _recoveries, "on_nack")
on_timeout = ladder("on_timeout", "state, flow", _recoveries, "on_timeout")
