"""Debug output or checks are left on.

What it checks: NCCL_DEBUG=INFO or TRACE, checks of pointers, CUDA_LAUNCH_BLOCKING and the
detailed debug of torch.distributed, except in jobs that run a test.
Why it matters: logs of every rank fill disks and slow the start of large jobs; blocking
launches end all overlap of communication and computation.
What to do: keep NCCL_DEBUG=WARN (or VERSION); switch the rest on for first runs alone.
References: NCCL user guide, NCCL_DEBUG; PyTorch, torch.distributed debug modes.
"""

from typing import Final

from weft.lint.facts import Launch, Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_TESTS: Final = ("_perf", "ib_write_bw", "ib_read_bw", "ib_send_bw", "nccl-tests")


def _check(case: Case) -> Found:
    tests = {
        one.device
        for one in case.of(Launch)
        if any(word.endswith(_TESTS) or "nccl-tests" in word for word in one.words)
    }
    files = {
        one.at.text.name
        for one in case.of(Launch)
        if not one.device and any(word.endswith(_TESTS) for word in one.words)
    }
    for one in case.of(Variable):
        said = _said(one)
        testing = one.at.text.name in files if not one.device else one.device in tests
        if said and not testing:
            light = one.name == "NCCL_DEBUG" and one.value.strip().upper() == "INFO"
            yield problem(
                one,
                f"{one.name}={one.value}: {said}",
                "remove it after first runs",
                severity=Severity.INFO if light else None,
            )


def _said(one: Variable) -> str:
    value = one.value.strip().upper()
    if one.name == "NCCL_DEBUG" and value in {"INFO", "TRACE"}:
        return "every rank writes a log of its set-up"
    if one.name in {"NCCL_CHECK_POINTERS", "CUDA_LAUNCH_BLOCKING"} and value == "1":
        return "every call waits or is checked"
    if one.name == "NCCL_CHECK_MODE" and value.startswith("DEBUG"):
        return "every call is checked"
    if one.name == "TORCH_DISTRIBUTED_DEBUG" and value == "DETAIL":
        return "every collective is compared between the ranks"
    return ""


nccl_debug_left_on = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
