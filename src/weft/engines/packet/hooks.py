"""The plug-ins as kernels call them: by number, through ladders written from the folders."""

from weft import plugins
from weft.engines.packet import balancing, congestion
from weft.kernel import ladder

CONTROLS = plugins.names(congestion)
BALANCINGS = plugins.names(balancing)

_controls = [(f"{congestion.__name__}.{name}", name) for name in CONTROLS]
_balancings = [(f"{balancing.__name__}.{name}", name) for name in BALANCINGS]

on_begin = ladder("on_begin", "flow, knobs, line, now", _controls, "on_begin")
on_send = ladder("on_send", "flow, knobs, line, payload, now", _controls, "on_send")
on_ack = ladder(
    "on_ack", "flow, knobs, line, payload, marked, round_trip, now", _controls, "on_ack"
)
on_cnp = ladder("on_cnp", "flow, knobs, line, now", _controls, "on_cnp")
on_loss = ladder("on_loss", "flow, knobs, line, payload, now", _controls, "on_loss")
pick_link = ladder("pick_link", "state, group, flow, link", _balancings, "pick")
