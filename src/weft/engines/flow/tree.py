"""The earliest of many times: a binary tree whose nodes hold the smaller of two children."""

import numpy as np

from weft.kernel import inner


@inner
def put(tree, first_leaf, number, value):
    """Set the value of one leaf, later or earlier than before."""
    place = first_leaf + number
    tree[place] = value
    while place > 1:
        value = min(value, tree[place ^ 1])
        place >>= 1
        if tree[place] == value:
            break
        tree[place] = value


@inner
def first(tree, first_leaf):
    """Return the number of the leaf with the smallest value, the lowest of several."""
    place = np.int64(1)
    while place < first_leaf:
        place *= 2
        if tree[place + 1] < tree[place]:
            place += 1
    return place - first_leaf
