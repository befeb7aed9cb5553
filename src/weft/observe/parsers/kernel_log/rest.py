"""Lines of the kernel that tell of no trouble that matters here."""

import re

from weft.observe.complaints import troubles

_FORM = re.compile(
    r"(?:<\d{1,3}>)?(?:\[\s{0,8}\d{1,9}\.\d{6}\](?:\s?\[\s{0,6}[TC]\d{1,7}\])?|"
    r"\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\]|"
    r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,16}) "
    r"[\w.-]{1,80} kernel:) "
)
"""How the kernel's lines begin: dmesg with seconds or dates, and in the journal."""
_MATTERS = re.compile(
    r"mlx|\bib_|rdma|infiniband|roce|ipoib|nvidia|nvrm|nvlink|nvswitch|amdgpu|kfd|\bgpu|pcie|"
    r"\baer\b|dpc:|bnxt|irdma|\bice\b|\befa\b|\bena\b|hfi1|erdma|\bhns|cxgb|qed|"
    r"\b(?:eth|bond|ib|en[spox])\d|vfio|dmar|\blink\b|firmware|hung|blocked for more|lockup|"
    r"\bmce\b|edac|hardware error|\bnfs|lustre|gpfs|beegfs|nvme|i/o error|"
    r"^(?!pci|ACPI)\w+ [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d",
    re.IGNORECASE,
)
"""What in the kernel of a host the network and the GPUs hang on. Of the rest it says 'invalid',
'disabled' and 'not supported' at every sound boot."""
_TRACE = re.compile(
    r"-+\[ cut here \]|---\[ end trace|RIP: |Call Trace:|(?:\? )?\w+\+0x[0-9a-f]+/0x|"
    r"Workqueue: |Hardware name: |CPU: \d|memcpy: detected field-spanning write|"
    r"ib_srpt (?:ib_cm_listen\(\)|srpt_add_one\(\w+\)) failed|SubnSet\("
)
"""Lines of a trace, which the line above it explains; a compiler's check that warns once; and a
storage target that finds nothing to listen on."""
_WORDS_OF_OTHERS = ("Command line:", "Kernel command line:", "acpi ", "ACPI", "oom-kill:")


def idle(line: str) -> bool:
    """Return whether a line is the kernel's and tells of no trouble that matters here."""
    form = _FORM.match(line)
    if form is None:
        return False
    text = line[form.end() :].lstrip()
    if not troubles(text) or _TRACE.match(text) or text.startswith(_WORDS_OF_OTHERS):
        return True
    return not _MATTERS.search(text)
