"""What somebody says he tried, and that it helped."""

import pytest

from weft.observe.trials import tells_of_trouble, trials


@pytest.mark.parametrize(
    ("text", "tried"),
    [
        ("NCCL_IB_HCA=mlx5_0,mlx5_1   -> ok, 171 GB/s", ["NCCL_IB_HCA=mlx5_0,mlx5_1"]),
        ("# with this it runs\nexport NCCL_IB_HCA=^mlx5_3", ["NCCL_IB_HCA=^mlx5_3"]),
        ("With NCCL_IB_DISABLE=1 it works, with NCCL_IB_DISABLE=0 it hangs",
         ["NCCL_IB_DISABLE=1"]),
        ("adding --ulimit memlock=-1 fixed it", ["--ulimit memlock=-1"]),
        ("works fine after removing NCCL_TOPO_FILE", ["NCCL_TOPO_FILE"]),
    ],
)  # fmt: skip
def test_a_change_that_helped_is_heard(text, tried):
    assert [one.tried for one in trials(text)] == tried


@pytest.mark.parametrize(
    "text",
    [
        "NCCL_IB_HCA=mlx5_5 -> same error as above",
        "NCCL_P2P_DISABLE=1 does not help",
        "setting NCCL_IB_TIMEOUT=23 made no difference, works as before",
        "NCCL_SOCKET_IFNAME=eth0 should work",
        "still hangs with NCCL_SHM_DISABLE=1",
        "NCCL INFO NCCL_P2P_DISABLE set by environment to 1",
        "export NCCL_IB_HCA=mlx5_0",
        "we set NCCL_IB_HCA=mlx5_0 on all nodes, works well",
        "NCCL_P2P_DISABLE=1: ok\nNCCL_P2P_DISABLE=0: ok",
        "opensm runs on the head node, fine",
    ],
)
def test_a_change_that_did_not_help_or_was_only_made_says_nothing(text):
    assert not list(trials(text))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("the second rank hangs for ever", True),
        ("with two nodes it fails", True),
        ("no errors, no hangs", False),
        ("errors: 0", False),
        ("error free since the update", False),
        ("If a job hangs, look at dmesg", False),
        ("last year the runs were slow", False),
    ],
)
def test_trouble_is_what_is_said_and_neither_denied_nor_thought_of(text, told):
    assert tells_of_trouble(text) is told
