"""The network in parts that take turns: a leaf with its hosts, every other switch.

What happens in one part is felt in another only after the time of a cable between them. So the
part whose event is the first of all may run ahead by the shortest of these times, and what it
touches stays in the nearest cache meanwhile. Results are those of one event after the other.
[Chandy & Misra, Asynchronous distributed simulation, CACM 1981]
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.engines.packet.events import make_tree
from weft.engines.packet.tables import PART
from weft.kernel import Table, table

SHORTEST_PS = 100_000
"""Parts with a shorter cable between them are one: a turn would hold about one packet."""
FOREVER_PS = 1 << 41
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The part of every node, and how far a part may run ahead of the others."""

    of_node: Ints
    lookahead_ps: int


def one_part(nodes: int) -> Parts:
    """Leave the network whole: events happen strictly one after the other."""
    return Parts(of_node=np.zeros(nodes, np.int64), lookahead_ps=FOREVER_PS)


def parts_of(links: Table, hosts: int, nodes: int, at_once: Ints) -> Parts:
    """Cut a network at its cables between switches.

    Args:
        links: Rows of the table of links.
        hosts: Nodes below this number are hosts.
        nodes: Number of hosts and switches.
        at_once: Pairs of nodes, shape (pairs, 2), that feel each other without delay.
    """
    ends = np.stack([links.source, links.target], 1).astype(np.int64)
    close = (ends < hosts).any(1) | (links.propagation < SHORTEST_PS)
    of_node = _joined(nodes, np.concatenate([ends[close], at_once]))
    between = of_node[ends[:, 0]] != of_node[ends[:, 1]]
    lookahead_ps = int(links.propagation[between].min(initial=FOREVER_PS))
    return Parts(of_node=of_node, lookahead_ps=lookahead_ps)


def _joined(nodes: int, pairs: Ints) -> Ints:
    """Number the sets of nodes that pairs join."""
    first = np.arange(nodes)
    left, right = pairs[:, 0], pairs[:, 1]
    while (first[left] != first[right]).any():
        low = np.minimum(first[left], first[right])
        np.minimum.at(first, first[left], low)
        np.minimum.at(first, first[right], low)
        while (first != first[first]).any():
            first = first[first]
    return np.unique(first, return_inverse=True)[1].ravel()


def place_events(
    links: Table, parts: Parts
) -> tuple[npt.NDArray[np.int64], Table, npt.NDArray[np.int32]]:
    """Give every event of every link its leaf, those of a part side by side.

    Returns the tree, the table of parts and the list of their links.
    Arrivals come first, then starts, then what is rare: so what is used is close together,
    and where there is room it has its leaves one level higher.
    """
    near, far = parts.of_node[links.source], parts.of_node[links.target]
    count = int(parts.of_node.max(initial=0)) + 1
    arrivals, senders = np.bincount(far, minlength=count), np.bincount(near, minlength=count)
    often = arrivals + senders
    height = np.array([_height(leaves) for leaves in (often + 2 * senders).tolist()])
    above = ((4 * often + 2 * senders <= 1 << 2 * height) & (height > 0)).astype(np.int64)
    root, slots = _subtrees(height)
    high, low = root << 2 * (height - above), root << 2 * height
    sender = _rank(near, senders)
    links.place[:, 0] = high[far] + _rank(far, arrivals)
    links.place[:, 1] = (high + arrivals)[near] + sender
    links.place[:, 2] = (low + (often << 2 * above))[near] + 2 * sender
    links.place[:, 3] = links.place[:, 2] + 1
    links.part[:, 0], links.part[:, 1] = far, near
    rows, part_links = _table_of(near, far)
    rows.root[:], rows.levels[:], rows.often[:] = root, height - above, often
    return make_tree(slots), rows, part_links


def _height(leaves: int) -> int:
    """Return the levels below the root of the smallest tree with so many leaves."""
    return (max(1, leaves) - 1).bit_length() + 1 >> 1


def _subtrees(height: Ints) -> tuple[Ints, int]:
    """Return the root of a subtree of each height, side by side, and the slots of the tree."""
    order = np.argsort(-height, kind="stable")
    sizes = 1 << 2 * height
    first = np.empty(len(height), np.int64)
    first[order] = np.cumsum(sizes[order]) - sizes[order]
    width = 1 << 2 * _height(int(sizes.sum()))
    return (first + width) >> 2 * height, width + int(sizes.sum())


def _table_of(near: Ints, far: Ints) -> tuple[Table, npt.NDArray[np.int32]]:
    """List the links of every part."""
    count = int(max(near.max(), far.max())) + 1
    link = np.arange(len(near))
    inside = near == far
    owner = np.concatenate([near, far[~inside]])
    order = np.argsort(owner, kind="stable")
    rows = table(count, PART)
    rows["last"] = np.cumsum(np.bincount(owner, minlength=count))
    rows["first"][1:] = rows["last"][:-1]
    return rows, np.concatenate([link, link[~inside]])[order].astype(np.int32)


def _rank(part: Ints, sizes: Ints) -> Ints:
    """Number the links of every part, each from 0."""
    order = np.argsort(part, kind="stable")
    rank = np.empty(len(part), np.int64)
    rank[order] = np.arange(len(part)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rank
