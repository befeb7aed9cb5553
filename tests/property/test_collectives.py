"""Every schedule, run on sets: what each rank ends with, and who contributed to it.

A chunk's state is the set of ranks whose data is in it. Reducing two states that share a rank
would count that rank twice, and fails.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sent_ratios import sent_ratio
from weft import plugins
from weft.errors import Infeasible
from weft.traffic import collectives
from weft.traffic.collective import Algorithm, Operation

ALGORITHMS = [plugins.load(collectives, n, Algorithm) for n in plugins.names(collectives)]
PAIRS = [
    pytest.param(a, o, id=f"{a.title}-{o}") for a in ALGORITHMS for o in sorted(a.operations)
]


def start(operation, ranks, chunks):
    """Return what every rank holds before: {rank: {chunk: contributors}}."""
    reduced = {Operation.ALL_REDUCE, Operation.REDUCE_SCATTER, Operation.REDUCE}
    if operation in reduced:
        return {r: {c: {r} for c in range(chunks)} for r in range(ranks)}
    if operation is Operation.ALL_TO_ALL:
        return {r: {r * ranks + t: {r} for t in range(ranks)} for r in range(ranks)}
    if operation is Operation.BROADCAST:
        return {r: {c: {0} for c in range(chunks)} if r == 0 else {} for r in range(ranks)}
    return {r: {r: {r}} for r in range(ranks)}


def promise(operation, rank, ranks, chunks):
    """Return what a rank must hold after: {chunk: contributors}."""
    everyone = set(range(ranks))
    return {
        Operation.ALL_REDUCE: dict.fromkeys(range(chunks), everyone),
        Operation.REDUCE: dict.fromkeys(range(chunks), everyone) if rank == 0 else {},
        Operation.REDUCE_SCATTER: {rank: everyone},
        Operation.ALL_GATHER: {c: {c} for c in range(ranks)},
        Operation.BROADCAST: {c: {0} for c in range(chunks)},
        Operation.ALL_TO_ALL: {s * ranks + rank: {s} for s in range(ranks)},
        Operation.SEND_RECV: {(rank - 1) % ranks: {(rank - 1) % ranks}},
    }[operation]


def play(algorithm, operation, ranks, per_domain):
    """Run the rounds; return what everyone holds and how many chunks each one sent."""
    held = start(operation, ranks, algorithm.chunks(ranks))
    sent = {}
    for sends in algorithm.schedule(operation, ranks, per_domain):
        assert sends, "no round is empty"
        moved = [(s, c, set(held.get(s.source, {})[c])) for s in sends for c in s.chunks]
        written = set()
        for send, chunk, contributors in moved:
            assert send.source != send.target
            mine = held.setdefault(send.target, {})
            if send.reduce:
                assert not mine.get(chunk, set()) & contributors, "added twice"
                mine[chunk] = mine.get(chunk, set()) | contributors
            else:
                assert (send.target, chunk) not in written, "written twice in one round"
                mine[chunk] = contributors
                written.add((send.target, chunk))
            sent[send.source] = sent.get(send.source, 0) + 1
    return held, sent


def scheduled(algorithm, operation, ranks, per_domain):
    try:
        return play(algorithm, operation, ranks, per_domain)
    except Infeasible as refusal:
        assert "use" in str(refusal)  # noqa: PT017 - it must say what to do
        return None


@st.composite
def groups(draw):
    per_domain = draw(st.sampled_from([1, 2, 3, 4, 8, 72]))
    full = draw(st.integers(1, 9)) * per_domain if per_domain < 9 else 12
    return draw(st.sampled_from([full, draw(st.integers(1, 19))])), per_domain


@pytest.mark.parametrize(("algorithm", "operation"), PAIRS)
@settings(max_examples=25, deadline=None)
@given(group=groups())
def test_every_rank_ends_with_what_the_operation_promises(algorithm, operation, group):
    ranks, per_domain = group
    result = scheduled(algorithm, operation, ranks, min(per_domain, ranks))
    if result is None:
        return
    held, _ = result
    for rank in range(ranks):
        for chunk, contributors in promise(
            operation, rank, ranks, algorithm.chunks(ranks)
        ).items():
            assert held[rank][chunk] == contributors


@pytest.mark.parametrize(("algorithm", "operation"), PAIRS)
@settings(max_examples=25, deadline=None)
@given(group=groups())
def test_the_busiest_rank_sends_what_the_closed_form_says(algorithm, operation, group):
    ranks, per_domain = group
    per_domain = min(per_domain, ranks)
    result = scheduled(algorithm, operation, ranks, per_domain)
    if result is None:
        return
    _, sent = result
    chunks = algorithm.chunks(ranks)
    busiest = max((sent.get(rank, 0) for rank in range(ranks)), default=0) / chunks
    assert busiest == pytest.approx(sent_ratio(algorithm.title, operation, ranks, per_domain))
    assert busiest >= least(algorithm, operation, ranks) - 1e-9


def least(algorithm, operation, ranks):
    """Return what some rank must send: the bus factor, less where switches do the work."""
    if ranks == 1:
        return 0.0
    if operation is Operation.ALL_GATHER:
        return 1 / ranks
    return 1.0 if algorithm.in_network else operation.bus_factor(ranks)


def test_an_all_gather_without_switches_sends_at_least_what_the_others_lack():
    """Every rank receives (n-1)/n, so on average every rank sends as much."""
    for name in ("ring", "pat", "hierarchical"):
        algorithm = plugins.load(collectives, name, Algorithm)
        assert sent_ratio(algorithm.title, Operation.ALL_GATHER, 16, 4) == pytest.approx(
            15 / 16
        )


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 7, 12, 16])
def test_every_operation_has_an_algorithm_for_any_number_of_ranks(ranks):
    done = {
        operation
        for algorithm in ALGORITHMS
        for operation in algorithm.operations
        if scheduled(algorithm, operation, ranks, 1) is not None
    }
    assert done == set(Operation)


ROUNDS = [
    ("ring", Operation.ALL_REDUCE, 8, 1, 14),
    ("ring", Operation.BROADCAST, 5, 1, 8),
    ("halving_doubling", Operation.ALL_REDUCE, 16, 1, 8),
    ("halving_doubling", Operation.ALL_REDUCE, 17, 1, 10),
    ("pat", Operation.ALL_GATHER, 16, 1, 4),
    ("pat", Operation.REDUCE_SCATTER, 13, 1, 4),
    ("pairwise", Operation.ALL_TO_ALL, 9, 1, 8),
    ("tree", Operation.ALL_REDUCE, 15, 1, 6),
    ("double_binary_tree", Operation.ALL_REDUCE, 16, 1, 8),
    ("nvls", Operation.ALL_REDUCE, 8, 8, 4),
    ("collnet", Operation.ALL_REDUCE, 32, 8, 4),
    ("hierarchical", Operation.ALL_TO_ALL, 32, 8, 2),
    ("hierarchical", Operation.ALL_REDUCE, 32, 8, 8),
    ("send_recv", Operation.SEND_RECV, 8, 1, 1),
]


@pytest.mark.parametrize(("name", "operation", "ranks", "per_domain", "rounds"), ROUNDS)
def test_the_number_of_rounds_is_the_latency_term(name, operation, ranks, per_domain, rounds):
    algorithm = plugins.load(collectives, name, Algorithm)
    assert len(list(algorithm.schedule(operation, ranks, per_domain))) == rounds


@pytest.mark.parametrize("ranks", range(2, 34))
def test_the_two_trees_share_the_work(ranks):
    """An inner rank of one tree is a leaf of the other: nobody sends more than 2 S."""
    algorithm = plugins.load(collectives, "double_binary_tree", Algorithm)
    assert sent_ratio(algorithm.title, Operation.ALL_REDUCE, ranks, 1) <= 2


@pytest.mark.parametrize(("name", "switches"), [("nvls", 1), ("nvls_tree", 4), ("collnet", 1)])
def test_switches_that_reduce_are_ranks_beyond_the_last(name, switches):
    ranks, per_domain = (8, 8) if name == "nvls" else (32, 8)
    algorithm = plugins.load(collectives, name, Algorithm)
    _, sent = play(algorithm, Operation.ALL_REDUCE, ranks, per_domain)
    assert {r for r in sent if r >= ranks} == set(range(ranks, ranks + switches))


def test_hierarchical_all_to_all_leaves_the_domain_on_its_own_rail_only():
    algorithm = plugins.load(collectives, "hierarchical", Algorithm)
    for sends in algorithm.schedule(Operation.ALL_TO_ALL, 32, 8):
        for send in sends:
            if send.source // 8 != send.target // 8:
                assert send.source % 8 == send.target % 8


REFUSED = [
    ("pairwise", Operation.ALL_REDUCE, 4, 1, "does not run all_reduce"),
    ("nvls", Operation.ALL_REDUCE, 16, 8, "nvls_tree"),
    ("collnet", Operation.ALL_REDUCE, 12, 8, "equal size"),
    ("halving_doubling", Operation.ALL_GATHER, 12, 1, "power of two"),
]


@pytest.mark.parametrize(("name", "operation", "ranks", "per_domain", "words"), REFUSED)
def test_ranks_that_an_algorithm_cannot_run_are_refused(
    name, operation, ranks, per_domain, words
):
    algorithm = plugins.load(collectives, name, Algorithm)
    with pytest.raises(Infeasible, match=words):
        list(algorithm.schedule(operation, ranks, per_domain))
