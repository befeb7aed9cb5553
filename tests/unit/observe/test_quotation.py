"""Lines that only quote messages are nobody's output."""

import pytest

from weft.observe.facts.gpus import GpuFault
from weft.observe.quotation import quotations
from weft.observe.reading import read_text

_FAULT = "NVRM: Xid (PCI:0000:17:00): 79, pid=1, GPU has fallen off the bus."


@pytest.mark.parametrize("text", [
    f"=== RUN   TestCodes/lost\n    codes_test.go:8: {_FAULT}\n--- PASS: TestCodes (0.00s)",
    f"[ RUN      ] Codes.Lost\n{_FAULT}\n[       OK ] Codes.Lost (1 ms)",
    f"collected 3 items\ntests/test_codes.py::test_lost\n{_FAULT}\n=== 3 passed in 0.2s ===",
    f"test_lost (codes.Codes) ... {_FAULT}\nok\nRan 3 tests in 0.2s\n\nOK",
    f'LOST = re.compile(r"{_FAULT}")',
    f'printk(KERN_ERR "{_FAULT} on %s", name);',
    f"| Message | What to do |\n|---|---|\n| `{_FAULT}` | power cycle |",
    f"Fixed a false alarm of the form {_FAULT}",
])  # fmt: skip
def test_a_quotation_states_nothing(text):
    facts, _ = read_text(text, "quoted.txt")
    assert not [one for one in facts if isinstance(one, GpuFault)]


@pytest.mark.parametrize("text", [
    _FAULT,
    f"=== RUN   TestNode\n{_FAULT}\n--- FAIL: TestNode (9.00s)",
    f"collected 3 items\n{_FAULT}\n===== 1 failed, 2 passed in 0.2s =====",
    f"{_FAULT}\ncollected 3 items\ntests/test_codes.py ...\n===== 3 passed in 0.2s =====",
    f"| Host | Message |\n|---|---|\n| n1 | {_FAULT} |",
    f"Fixed by a reboot: {_FAULT}",
])  # fmt: skip
def test_a_report_is_no_quotation(text):
    facts, _ = read_text(text, "report.txt")
    assert [one for one in facts if isinstance(one, GpuFault)]


def test_a_plain_log_has_no_quotations():
    assert not quotations("step 1 | loss 9.1\nstep 2 | loss 8.7")
