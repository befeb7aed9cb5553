"""The earliest of many times: a tree whose nodes hold the smallest of four children.

The children of node n are 4n to 4n + 3, so that what an update compares lies in one cache line.
"""

import numpy as np
import numpy.typing as npt

from weft.kernel import inner


def make_tree(times: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the tree of some times, whose leaves are at its end."""
    width = 4
    while width < len(times):
        width *= 4
    tree = np.full(2 * width, np.inf)
    tree[width : width + len(times)] = times
    while width > 1:
        nodes = tree[width : 2 * width]
        width //= 4
        tree[width : 2 * width] = nodes[: 4 * width].reshape(-1, 4).min(axis=1)
    return tree


@inner
def put(state, flow_id, time_s):
    """Set the time of a flow, later or earlier than before."""
    tree = state.tree
    place = state.counts[0].first_leaf + flow_id
    tree[place] = time_s
    while place > 1:
        time_s = min(tree[place ^ 1], tree[place ^ 2], tree[place ^ 3], time_s)
        place >>= 2
        if tree[place] == time_s:
            break
        tree[place] = time_s


@inner
def first(state):
    """Return the flow with the earliest time, the lowest of several."""
    tree = state.tree
    time_s = tree[1]
    first_leaf = state.counts[0].first_leaf
    place = np.int64(1)
    while place < first_leaf:
        place *= 4
        while tree[place] != time_s:
            place += 1
    return place - first_leaf
