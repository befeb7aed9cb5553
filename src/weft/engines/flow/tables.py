"""The state of the flow engine: links, flows, and the use of links by flows from both sides.

Sizes are bytes, rates bytes per second, times seconds. The *level* of a link is the rate that
it allows each flow of weight 1 that it limits; infinite where it limits none. A flow's rate is
the lowest level on its path.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from weft.kernel import Table

WAITING, SENDING, ARRIVING, ENDED = range(4)
"""What a flow does: waits for its begin, sends, has sent what is on its way, has arrived."""

LINK = np.dtype(
    [
        ("bytes_per_s", "f8"),
        ("weight", "f8"),  # while rates are filled up: of flows without a rate
        ("first", "i4"),  # first of its uses
        ("uses", "i4"),  # by flows that send now
        ("open", "i4"),  # while rates are filled up: flows without a rate
        ("queued", "i4"),
    ],
    align=True,
)
LEVEL = np.dtype([("level", "f8"), ("left_bytes_per_s", "f8")], align=True)
"""By link: its level, and what flows leave of its rate where it limits none."""
USE = np.dtype([("flow", "i4"), ("hop", "i4"), ("weight", "f8")], align=True)
"""By link: which flow uses it, as which of the hops."""
HOP = np.dtype([("link", "i4"), ("use", "i4"), ("weight", "f8")], align=True)
"""By flow: which link it uses, and where that stands in the uses of the link."""
PATH = np.dtype(
    [
        ("low", "f8"),  # lowest level on the path of a flow, and
        ("second", "f8"),  # the next
        ("low_link", "i4"),
        ("first", "i4"),  # first of its hops
        ("hops", "i4"),
        ("touched", "i4"),
    ],
    align=True,
)
FLOW = np.dtype(
    [
        ("rate", "f8"),
        ("left_bytes", "f8"),
        ("last_s", "f8"),  # when left_bytes was right
        ("begin_s", "f8"),
        ("delay_s", "f8"),  # from the last byte sent to its arrival
        ("end_s", "f8"),
        ("doing", "i4"),
        ("waits", "i4"),  # flows that must arrive before
        ("after", "i4"),  # first of the flows that wait for it
        ("followers", "i4"),
    ],
    align=True,
)
COUNTS = np.dtype(
    [
        ("now_s", "f8"),
        ("slack_ratio", "f8"),
        ("first_leaf", "i8"),  # of the tree
        ("last_in_queue", "i8"),  # a power of two less one
        ("flows", "i8"),
        ("links", "i8"),
        ("left", "i8"),  # flows that have not arrived
        ("sending", "i8"),
        ("events", "i8"),
        ("evaluations", "i8"),  # of links
        ("queued", "i8"),
        ("touched", "i8"),
    ],
    align=True,
)


class _Tables(NamedTuple):
    links: Table
    levels: Table
    uses: Table
    hops: Table
    paths: Table
    flows: Table
    followers: npt.NDArray[np.int64]
    tree: npt.NDArray[np.float64]
    """Times of the next event of each flow: a node holds the earliest of its four children."""
    queue: npt.NDArray[np.int64]
    """Links whose level is to be found again; a ring."""
    touched: npt.NDArray[np.int64]
    """Flows whose rate may have changed."""
    limits: Table
    """Scratch: what the flows of one link can get elsewhere."""
    counts: Table


class State(_Tables):
    """All tables of one simulation."""

    __slots__ = ()
    TITLE = "the flow solver"


LIMIT = np.dtype([("level", "f8"), ("weight", "f8")], align=True)
