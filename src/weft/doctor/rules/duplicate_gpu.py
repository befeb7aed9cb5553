"""Two ranks use one GPU.

What it checks: the library's own complaint.
Why it matters: the job stops; with --oversubscribe it would crawl.
What to do: one rank a GPU: set the device from the local rank, and start no more ranks than
the host has GPUs.
References: PyTorch distributed, LOCAL_RANK and torch.cuda.set_device.
"""

from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, finding
from weft.observe.facts.communicators import DuplicateGpu


def _check(facts: Facts) -> Iterator[Finding]:
    doubles = facts.of(DuplicateGpu)
    said = job.said(
        facts,
        r"multiple ranks are using the same gpu|duplicate gpu detected|"
        r"multiple pes per gpu \(mpg\) detected",
    )
    if doubles or said:
        first = doubles[0] if doubles else None
        yield finding(
            "duplicate-gpu",
            [*doubles, *said],
            0.95,
            subject=first.gpu if first else "",
            message=f"ranks {first.rank} and {first.other_rank} both use GPU {first.gpu}"
            if first
            else "several ranks use one GPU",
            advice="set the device from the local rank; start as many ranks as there are GPUs",
            next_command="echo $LOCAL_RANK $CUDA_VISIBLE_DEVICES   # in every rank",
        )


duplicate_gpu = Rule(causes=("duplicate-gpu",), check=_check)
