"""Traffic classes at a port: a lane each, and whose turn it is.

A lane is row ``link + class * links`` of the table of links, so with one class lanes and links
are the same. Classes of the highest priority that can send go first; among those of one
priority, turns are worth bytes (deficit round robin, where a class that sent too much in one
turn has so much less in its next). [IEEE 802.1Q, strict priority and enhanced transmission
selection; Shreedhar & Varghese, SIGCOMM 1995]
"""

import numpy as np

from weft.kernel import choice, inner

NOBODY = -1


@inner
def lane_of(state, link_id, traffic_class):
    """Return the lane of a class at a link."""
    return np.int64(
        link_id + np.int64(traffic_class) * state.settings[0].links
        if choice(state)
        else link_id
    )


@inner
def link_of(state, lane_id):
    """Return the link of a lane."""
    return np.int64(lane_id % state.settings[0].links if choice(state) else lane_id)


@inner
def class_of(state, lane_id):
    """Return the class of a lane."""
    return np.int64(lane_id // state.settings[0].links if choice(state) else 0)


@inner
def settings_of(state, traffic_class):
    """Return the settings of a class."""
    return state.settings[np.int64(traffic_class if choice(state) else 0)]


@inner
def ring_of(state, host, traffic_class):
    """Return the row of a host that holds the ring of its senders of a class."""
    return np.int64(
        host + np.int64(traffic_class) * state.settings[0].hosts if choice(state) else host
    )


@inner
def first_priority(state, ready):
    """Keep, of a set of classes (a bit each), those of the highest priority."""
    best = NOBODY
    kept = np.int64(0)
    for traffic_class in range(state.settings[0].classes):
        if ready >> traffic_class & 1:
            priority = state.settings[traffic_class].priority
            if priority > best:
                best = priority
                kept = np.int64(0)
            if priority == best:
                kept |= np.int64(1) << traffic_class
    return kept


@inner
def take_turn(state, link_id, ready):
    """Return which of the ready classes (a bit each, at least one) sends now."""
    settings = state.settings[0]
    traffic_class = np.int64(state.shares[link_id].turn)
    while True:
        share = state.shares[lane_of(state, link_id, traffic_class)]
        if ready >> traffic_class & 1 and share.left_bytes > 0:
            state.shares[link_id].turn = traffic_class
            return traffic_class
        traffic_class = traffic_class + 1 if traffic_class + 1 < settings.classes else 0
        share = state.shares[lane_of(state, link_id, traffic_class)]
        if ready >> traffic_class & 1 and share.left_bytes <= 0:
            share.left_bytes += state.settings[traffic_class].turn_bytes


@inner
def pay(state, lane_id, size_bytes):
    """Take what was sent off what the lane may send in this turn."""
    state.shares[lane_id].left_bytes -= size_bytes
