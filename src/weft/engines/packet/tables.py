"""The state of a simulation: a few tables of records, and what their numbers mean.

Sizes are bytes, times picoseconds. -1 ends a list and means "none". All queues are linked
through ``packets.next``, so no queue has a capacity of its own.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from weft.kernel import Table

CC_SLOTS = 10
CACHE_LINE_BYTES = 64
FLOWLETS = 4096
"""Flows that a switch can tell apart when it balances flowlets."""
KNOBS = 16
RING = 256
"""Control messages in flight on one link: a power of two."""
RING_MASK = RING - 1


class Event(IntEnum):
    """What can happen at a link; one leaf of the winner tree each."""

    ARRIVE = 0
    """The first packet on the wire reaches the far end."""
    START = 1
    """The port may send its next packet; pending only while something waits."""
    CONTROL = 2
    """A pause frame, or a credit that is waited for, reaches the sender."""
    TIMER = 3
    """On the uplink of a host its next operation begins; on its downlink its flows look
    whether an answer is overdue; on any link from a switch the pause watchdog looks."""


class Kind(IntEnum):
    """What a packet is; all but DATA travel in the control class, which nothing stops."""

    DATA = 0
    ACK = 1
    CNP = 2
    NACK = 3
    TRIMMED = 4
    GRANT = 5
    """A receiver lets a flow send up to a packet's number."""
    LOST = 6
    """A data packet with bit errors: who receives it drops it."""
    LOST_CONTROL = 7


class FlowControl(IntEnum):
    """What keeps a buffer from overflowing."""

    NONE = 0
    """Nothing: a full queue trims the packet to its header, and the receiver asks again."""
    PFC = 1
    """Priority flow control: pause above XOFF, resume below XON, per ingress port."""
    CREDITS = 2
    """InfiniBand: no credit, no send."""
    CBFC = 3
    """Ultra Ethernet: credits in units, given back by updates that keep a distance."""


class Watchdog(IntEnum):
    """What a switch does about a queue that has been paused for too long."""

    OFF = 0
    DROP = 1
    """Drop what waits and what comes, until it is given another chance."""
    FORWARD = 2
    """Send as if there were no pause."""


class Feedback(IntEnum):
    """What the receiver tells the sender."""

    NONE = 0
    CNP = 1
    """A congestion notification at most every ``cnp_gap_ps`` when packets come marked."""
    ACK = 2
    """One acknowledgement a packet, carrying its mark and its time of sending."""


class Stop(IntEnum):
    """Why the kernel returned."""

    DONE = 0
    UNTIL = 1
    POOL_LOW = 2


LINK = np.dtype(
    [
        # the first cache line: the wire, and what the receiver holds of it
        ("ingress_bytes", "i8"),  # data of this link held by the receiving switch
        ("random", "i8"),  # the receiver's stream
        ("propagation", "i8"),
        ("source", "i4"),
        ("target", "i4"),
        ("wire_head", "i4"),
        ("wire_tail", "i4"),
        ("place", "i4", (4,)),  # in the tree, by kind of event
        ("control_tail", "i4"),
        ("xoff_sent", "i1"),
        # the second: the sender
        ("busy", "i8"),  # it is serialising until then
        ("start_at", "i8"),  # pending START event, or NEVER
        ("ps_per_byte", "f8"),
        ("sent_bytes", "i8"),
        ("largest_queue_bytes", "i8"),
        ("queue_bytes", "i8"),  # data waiting at the sender
        ("data_head", "i4"),
        ("data_tail", "i4"),
        ("control_head", "i4"),
        ("paused", "i1"),
        ("blocked", "i1"),  # out of credit: 1 asleep, 2 wake-up scheduled
        ("bounded", "i1"),  # whether its queue has a limit
        ("faulty", "i1"),  # whether bits of it go wrong
        # the third: what only some settings or few packets touch
        ("limit_bytes", "i8"),  # above it the queue of the sender drops or trims
        ("error_at", "i8"),  # the byte of ``sent_bytes`` that is the next to go wrong
        ("random_out", "i8"),  # the sender's stream
        ("told_to_pause", "i1"),
        ("tripped", "i1"),  # the watchdog ignores pauses
        ("credits", "i4"),  # in units
        ("ring_head", "i4"),
        ("ring_tail", "i4"),
        ("part", "i4", (2,)),  # of the network: the receiver's, the sender's
        ("marks", "i4"),
        ("pauses", "i4"),
        ("errors", "i4"),
        ("drops", "i4"),
        # the rest: what is rarely touched
        ("paused_since", "i8"),
        ("paused_total", "i8"),
        ("watchdog_at", "i8"),  # when the pause watchdog looks next, or NEVER
        ("error_gap_bytes", "f8"),  # mean number of bytes between errors
        ("trips", "i4"),
        ("pause_row", "i4"),  # in the table of pauses, while the receiver holds the link
        ("spare", "i4", (6,)),
    ],
    align=True,
)
assert LINK.itemsize == 4 * CACHE_LINE_BYTES
PACKET = np.dtype(
    [
        ("time", "i8"),  # arrival
        ("sent_at", "i8"),  # in an ACK: when the acknowledged packet was sent
        ("next", "i4"),
        ("flow", "i4"),
        ("wire_bytes", "i4"),
        ("payload_bytes", "i4"),
        ("ingress", "i4"),
        ("sequence", "i4"),  # in an ACK or NACK: all before it have arrived
        ("first_missing", "i4"),  # in a NACK of a packet that asks: bytes that came beside
        ("missing", "i4"),  # in DATA and TRIMMED: whether it asks to be answered
        ("target", "i4"),  # the host that it travels to
        ("kind", "i1"),
        ("marked", "i1"),
        ("traffic_class", "i1"),
        ("entropy", "u1"),  # that switches hash, where its host balances
        ("telemetry", "f8"),
    ],
    align=True,
)
assert PACKET.itemsize == CACHE_LINE_BYTES
FLOW = np.dtype(
    [
        # the first cache line: may it send?
        ("to_send_bytes", "i8"),
        ("in_flight_bytes", "i8"),
        ("window_bytes", "f8"),
        ("pace_ps_per_byte", "f8"),
        ("next_send", "i8"),
        ("progress_at", "i8"),  # when the sender last had reason to be patient
        ("next", "i4"),  # in the host's ring of senders, or in its list of waiting starts
        ("next_sequence", "i4"),  # sender: the number of the next new packet
        ("send_limit", "i4"),  # sender: no new packet from this number on
        ("resends", "i4"),  # packets waiting to be sent again
        # the second: routing and receiving
        ("hash", "i8"),
        ("source", "i4"),
        ("target", "i4"),
        ("received_bytes", "i8"),
        ("last_cnp", "i8"),  # or when the last packet that asks was sent, where there are none
        ("total_bytes", "i8"),
        ("previous", "i4"),
        ("active", "i1"),
        ("asked", "i1"),  # sender: its last packet asked to be answered
        ("traffic_class", "i2"),
        ("acknowledged", "i4"),  # sender: all before it have arrived
        ("resend_from", "i4"),
        ("expected", "i4"),  # receiver: the first number that has not arrived
        ("complained", "i4"),
        ("cc", "f8", (CC_SLOTS,)),
        ("begin", "i8"),
        ("end", "i8"),
        ("waits_for", "i4"),  # operations that must end first
        ("owed_bytes", "i4"),  # receiver: what came and is not acknowledged
        ("telemetry", "f8"),
        ("withheld_bytes", "i8"),  # what a relay has yet to bring it
        ("lag", "i8"),  # from the end of the last that it waits for to its begin
    ],
    align=True,
)
assert FLOW.itemsize == 4 * CACHE_LINE_BYTES
HOST = np.dtype(
    [
        ("turn", "i4"),
        ("waiting_head", "i4"),
        ("waiting_tail", "i4"),
        ("uplink", "i4"),
        ("downlink", "i4"),
        ("granting", "i4"),  # the flow that it grants credit to next, or -1
        ("ready", "i8"),  # before it the NIC begins no packet: limits other than the wire
        ("coming_bytes", "i8"),  # that it has granted and not received
        ("timer_at", "i8"),  # when flows look for overdue answers, or NEVER
        ("patient", "i2"),  # what it sends takes its time, and cannot be lost
        ("rises", "i2"),  # how often that ratio has grown in a row
        ("seen_cut", "i4"),  # packets that were trimmed on the way, as those of "seen"
        ("message", "i8"),  # least time between the begins of two messages
        ("message_at", "i8"),  # when the next may begin
        ("switch", "i8"),  # mean time that another connection than the last one costs
        ("connection", "i8"),  # hash of the last flow that sent
        ("grant_at", "i8"),  # before it the host grants no credit
        ("rate_ratio", "f8"),  # of the credit that it grants
        ("rate_until", "i8"),  # when that follows the marks again
        ("marked_ratio", "f8"),
        ("seen", "i4"),  # packets since then, and those of them that were marked
        ("seen_marked", "i4"),
    ],
    align=True,
)
assert HOST.itemsize == 2 * CACHE_LINE_BYTES
RELAY = np.dtype(
    [
        ("low_bytes", "i8"),  # that every feeder has delivered
        ("lead_bytes", "i8"),  # that the fed flows may be ahead of it
        ("feeders", "i4"),
        ("ahead", "i4"),  # feeders that have delivered more
        ("first", "i4"),  # in ``relayed``: its feeders, then the flows that it feeds
        ("fed", "i4"),  # number of those
    ],
    align=True,
)
"""Flows that may send only what others have brought: a switch that reduces or copies."""
SWITCH = np.dtype(
    [("used_bytes", "i8"), ("largest_used_bytes", "i8"), ("drops", "i8")], align=True
)
FLOWLET = np.dtype([("seen", "i8"), ("group", "i4"), ("link", "i4")], align=True)
ENTROPIES = 256
"""Values of entropy that a host can tell apart."""
CHOICE = np.dtype(
    [
        ("penalty", "u1", (ENTROPIES,)),  # turns for which an entropy is left out
        ("kept", "u1", (ENTROPIES,)),  # a ring of entropies that proved good
        ("first_kept", "i4"),
        ("count_kept", "i4"),
        ("turn", "i4"),
        ("mask", "i4"),  # laid over the turn, so that each round has another order
    ],
    align=True,
)
LOAD = np.dtype(
    [
        ("begin", "i8"),  # of the span in which the rate is measured now
        ("sent_bytes", "i8"),  # until then
        ("rate_ratio", "f8"),  # of the last span, to the rate of the link
    ],
    align=True,
)
PART = np.dtype(
    [
        ("root", "i8"),  # of its subtree of events
        ("first", "i8"),  # in the list of links by part
        ("last", "i8"),
        ("events", "i8"),  # of its last turn
        ("levels", "i8"),  # of its subtree down to the leaves of what happens often
        ("often", "i8"),  # number of those leaves
    ],
    align=True,
)
PAUSE = np.dtype(
    [
        ("link", "i4"),
        ("cause", "i4"),  # the link whose queue held it up
        ("begin", "i8"),  # when the message is sent
        ("end", "i8"),  # -1: it is still paused
    ],
    align=True,
)
SHARE = np.dtype(
    [
        ("left_bytes", "i8"),  # of a lane: what it may still send in this turn
        ("turn", "i8"),  # of a link: the class whose turn it is
    ],
    align=True,
)
SETTINGS = np.dtype(
    [
        ("hosts", "i8"),
        ("links", "i8"),
        ("classes", "i8"),
        ("credit_unit_bytes", "i8"),  # credits are counted in
        ("credit_overhead_bytes", "i8"),  # of a packet, beside its size
        ("spacing_bytes", "i8"),  # on the wire between two updates of one lane
        ("update_bytes", "i8"),  # of such an update on the wire
        ("priority", "i8"),
        ("turn_bytes", "i8"),  # what a class may send before the next of its priority
        ("leaves", "i8"),
        ("mtu_bytes", "i8"),
        ("header_bytes", "i8"),
        ("control_bytes", "i8"),
        ("cut_through_bytes", "i8"),
        ("flow_control", "i8"),
        ("feedback", "i8"),
        ("balancing", "i8"),
        ("congestion", "i8"),
        ("recovery", "i8"),
        ("trims", "i8"),
        ("trims_last_ratio", "f8"),  # how often the last packet of a full queue is trimmed
        ("numbered", "i8"),
        ("selective", "i8"),
        ("grants", "i8"),  # whether receivers decide what may be sent
        ("clocked", "i8"),  # whether those of any class do
        ("keeps_sender", "i8"),  # until all is acknowledged
        ("acknowledge_every", "i8"),
        ("acknowledge_bytes", "i8"),  # unmarked packets are acknowledged together; 0: each
        ("reordering_packets", "i8"),
        ("window_packets", "i8"),
        ("timeout", "i8"),
        ("link_retry", "i8"),
        ("ingress_limit_bytes", "i8"),
        ("shared", "i8"),  # whether thresholds follow the free buffer
        ("alpha", "f8"),
        ("buffer_bytes", "i8"),
        ("flowlet_gap", "i8"),
        ("entropies", "i8"),  # among which a host chooses
        ("chooses", "i8"),  # whether hosts balance
        ("telemetry", "i8"),
        ("load_span", "i8"),
        ("watchdog", "i8"),
        ("watchdog_detection", "i8"),
        ("watchdog_restoration", "i8"),
        ("xoff_bytes", "i8"),
        ("xon_bytes", "i8"),
        ("kmin_bytes", "i8"),
        ("kmax_bytes", "i8"),
        ("pmax", "f8"),
        ("marking", "i8"),  # 1: every port of a switch; 2: not those to hosts
        ("cnp_gap", "i8"),
        ("gap_between_operations", "i8"),
        ("limited", "i8"),  # whether NICs have limits other than the wire
        ("message_bytes", "i8"),
        ("relays", "i8"),  # whether there are any
        ("line_ps_per_byte", "f8"),
        ("knobs", "f8", (KNOBS,)),
    ],
    align=True,
)
COUNTS = np.dtype(
    [
        ("data_hops", "i8"),
        ("control_hops", "i8"),
        ("events", "i8"),
        ("marks", "i8"),
        ("trims", "i8"),
        ("drops", "i8"),
        ("errors", "i8"),
        ("nacks", "i8"),
        ("timeouts", "i8"),
        ("resent_bytes", "i8"),
        ("pauses", "i8"),
        ("pauses_recorded", "i8"),
        ("watchdog_trips", "i8"),
        ("cnps", "i8"),
        ("grants", "i8"),
        ("flows_done", "i8"),
        ("last_end", "i8"),
        ("now", "i8"),
        ("latest", "i8"),  # time of the last event so far: parts take turns, so ``now`` jumps
        ("lookahead", "i8"),  # how far a part may run ahead of the others
        ("root", "i8"),  # of the events of the part whose turn it is
        ("free_packet", "i8"),  # the one that was given back last; -1: none
        ("fresh_packet", "i8"),  # the first that was never used
        ("packets_alive", "i8"),
        ("pool_packets", "i8"),  # rows of the tables that kernels must not leave
        ("pause_rows", "i8"),
    ],
    align=True,
)


class State(NamedTuple):
    """All that the kernels read and write.

    A port has a lane for every traffic class: row ``link + class * links`` of the links. There
    are its queue, its pauses and its credits; the wire is in the row of the link itself, which
    is the lane of class 0. The senders' rings of a host are split alike.
    """

    links: Table
    packets: Table
    flows: Table
    hosts: Table
    switches: Table
    pauses: Table
    loads: Table
    """By link, where packets carry telemetry."""
    shares: Table
    """By lane, where there are several classes."""
    flowlets: Table
    """(switch, hash of a flow) -> its link, where flowlets are balanced."""
    choices: Table
    """By flow, where hosts balance: what a sender knows of its paths."""
    settings: Table
    """A row a class; what is not of a class is the same in all of them."""
    counts: Table
    parts: Table
    part_links: npt.NDArray[np.int32]
    """Links that begin or end in each part."""
    tree: npt.NDArray[np.int64]
    flags: npt.NDArray[np.uint8]
    """(flow, packet modulo the window) -> what selective repeat knows of it."""
    rings: npt.NDArray[np.int64]
    """(link, slot) -> time, value; flattened."""
    leaf_of: npt.NDArray[np.int32]
    """Host -> number of its leaf."""
    last_link: npt.NDArray[np.int32]
    """Host -> link that ends at it."""
    groups: npt.NDArray[np.int32]
    """(switch, leaf) -> group of equal-cost next links; -1: the leaf is here."""
    group_start: npt.NDArray[np.int32]
    group_links: npt.NDArray[np.int32]
    successor_start: npt.NDArray[np.int32]
    successors: npt.NDArray[np.int32]
    """Flow -> flows that wait for its end."""
    relays: Table
    relay_of: npt.NDArray[np.int32]
    """Flow -> the relay that it feeds, or -1."""
    relayed: npt.NDArray[np.int32]
    """Relay -> its feeders and the flows that it feeds."""


class StateOfClasses(State):
    """The state where there are several traffic classes; kernels compile once for each kind."""

    __slots__ = ()
    CHOICE = True
    TITLE = "the simulator with traffic classes"
