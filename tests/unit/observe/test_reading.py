"""Lines offered to parsers: labels, mixtures, documents, bounds."""

import io

import pytest

from weft.observe import observation
from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.benchmarks import MeasuredCollective
from weft.observe.facts.interfaces import Counter
from weft.observe.facts.programs import Setting
from weft.observe.facts.transports import AdapterOpenFailed
from weft.observe.facts.verbs import CompletionError
from weft.observe.parser import Source
from weft.observe.reading import read_stream, read_text

ROW = "  1024  128  float  sum  -1  21.50  0.05  0.02  0  20.1  0.05  0.03  0"


@pytest.mark.parametrize(
    "label",
    ["[1,3]<stdout>:", "(Worker pid=77) ", "12: ", "> ", "gpu-a01: ", "[pod/train/worker-0] "],
)
def test_a_label_before_the_text_is_seen_through(label):
    facts, read = read_text(f"{label}{ROW}\n", "run.txt")
    assert [type(fact) for fact in facts] == [MeasuredCollective] * 2
    assert read.unread == 0


def test_labelled_outputs_of_hosts_are_told_apart():
    """pdsh mixes the lines of hosts: each block of ibstat stays with its host."""
    block = ("CA 'mlx5_0'", "Port 1:", "State: {}", "Physical state: LinkUp", "Base lid: 3")
    lines = [
        f"{host}: {line.format(state)}"
        for line in block
        for host, state in (("a1", "Active"), ("a2", "Down"))
    ]
    facts, _ = read_text("\n".join(lines), "pdsh.txt")
    ports = {fact.host: fact.state for fact in facts if isinstance(fact, AdapterPort)}
    assert ports == {"a1": "active", "a2": "down"}


def test_log_lines_may_stand_within_a_document_and_a_table():
    setting = "n1:1:2 [0] NCCL INFO NCCL_IB_TC set by environment to 106"
    text = f'{ROW}\n{setting}\n{{"x": [1,\n2]}}\n{ROW}\n'
    facts, read = read_text(text, "mix.txt")
    assert [type(fact) for fact in facts].count(Setting) == 1
    assert read.unread == 2  # the document, which is nobody's


def test_colours_returns_quotes_and_links_are_undone():
    text = (
        "\x1b[31mn1:1:2 [0] p2p.cc:7 NCCL WARN NET/IB: Got completion from peer "
        "10.0.0.1<5> with status=12 opcode=0 len=0 vendor err 129 (Recv)\x1b[0m\r\n"
        "n1:1:2 [0] [p2p.cc:783](https://p2p.cc:783/) NCCL WARN Something\r\n"
        "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev \u201cens1\u201d\r\n"
    )
    facts, read = read_text(text, "pasted.txt")
    assert read.unread == 0
    assert facts[0].status == 12
    assert facts[1].place == "p2p.cc:783" or facts[0].place == "p2p.cc:783"


def test_utf_16_is_read():
    raw = "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1\n".encode("utf-16")
    facts, _ = read_stream(io.BytesIO(raw), Source("windows.txt"))
    assert len(facts) == 1


def test_a_line_without_end_is_cut():
    """Ten megabytes in one line neither fill the memory nor shift the numbers of lines."""
    text = "x" * 10_000_000 + "\nlink mlx5_0/1 state DOWN physical_state POLLING\n"
    facts, read = read_text(text, "long.txt")
    assert facts[0].evidence.line == read.lines == 2


def test_a_fact_stated_often_is_kept_once_and_kinds_are_bounded(monkeypatch):
    line = "n1:1:2 [0] NCCL INFO Using network IB\n"
    assert len(read_text(line * 1000, "a.log")[0]) == 1
    monkeypatch.setattr(observation, "MOST_OF_A_KIND", 10)
    counters = "".join(f"     rx_prio3_bytes_{n}: {n}\n" for n in range(100))
    facts, read = read_text(counters, "b.txt")
    assert len([f for f in facts if isinstance(f, Counter)]) == 10
    assert read.left_out == 90


def test_a_message_broken_over_lines_is_stated_once_and_whole():
    text = (
        "n1:1:2 [0] NCCL WARN NET/IB: Got completion from peer 10.0.0.1<5> with status=12\n"
        "   localGid fe80::1  remoteGids fe80::2  hca mlx5_3\n"
        "n1:1:2 [0] NCCL INFO proxy.cc:700 -> 6\n"
    )
    (fact,) = read_text(text, "broken.log")[0]
    assert isinstance(fact, CompletionError)
    assert (fact.local_gid, fact.remote_gid, fact.adapter) == ("fe80::1", "fe80::2", "mlx5_3")


@pytest.mark.parametrize("end", ["", "\n"])
def test_lines_of_a_document_that_nobody_knows_are_read_wherever_it_ends(end):
    """Its last bracket may stand in a block of its own; the lines are those of all blocks."""
    facts, read = read_text(f"{{\n{ROW}\n}}{end}", "notes.json")
    assert len(facts) == 2
    assert read.unread == 2


STAMPS = {
    "a container's log": "2026-03-02T10:00:0{n}.123456789Z {line}",
    "a node's log of containers": "2026-03-02T10:00:0{n}.1+02:00 stderr F {line}",
    "syslog": "Mar  2 10:00:0{n} gpu07 train[123]: {line}",
    "the journal": "2026-03-02T10:00:0{n}+0000 gpu07 python3[123]: {line}",
    "numbers of lines": "[{n}] {line}",
    "a viewer's numbers": "   {n} {line}",
    "torchrun": "[default3]:{line}",
    "a date in brackets": "[2026-03-02 10:00:0{n},123] {line}",
    "kubectl and a rank": "[pod/w-0/main] [rank3]: {line}",
    "stern": "train-worker-0 pytorch {line}",
    "quoted mail": "> {line}",
    "an indented paste": "      {line}",
}
PORT = ("CA 'mlx5_0'", "Port 1:", "State: Initializing", "Physical state: LinkUp", "SM lid: 0")
BROKEN = (
    "n1:5:6 [0] NCCL WARN NET/IB : Got completion from peer 10.0.0.2<41>",
    "with status=12 opcode=0 len=0 vendor err 129 (Recv)",
)


@pytest.mark.parametrize("stamp", STAMPS.values(), ids=STAMPS)
@pytest.mark.parametrize("lines", [PORT, BROKEN], ids=["a block", "a broken line"])
def test_what_loggers_put_before_lines_does_not_hide_what_they_say(stamp, lines):
    text = "\n".join(stamp.format(n=n, line=line) for n, line in enumerate(lines, 1))
    facts, file = read_text(text, "log.txt")
    assert not file.unread
    plain, _ = read_text("\n".join(lines), "log.txt")
    assert [type(one) for one in facts] == [type(one) for one in plain]


IDLE = """\
[    0.000000] Linux version 6.8.0-41-generic (gcc-13) #41-Ubuntu SMP
[Fri Nov 20 10:00:01 2026] ACPI: PCI Root Bridge [PC00] (domain 0000 [bus 00-16])
Nov 20 10:00:02 node1 kernel: EXT4-fs (sda1): mounted filesystem with ordered data mode
<6>[   12.520000] usb 1-1: new high-speed USB device number 2 using xhci_hcd
[    0.000000] DMI not present or invalid.
[    0.318879] iommu: DMA domain TLB invalidation policy: lazy mode
[    0.000000] Kernel command line: quiet nvidia.NVreg_EnableFailover=0 unsupported=1
"""


def test_what_the_kernel_says_of_no_trouble_is_understood():
    facts, file = read_text(IDLE, "dmesg")
    assert not facts
    assert file.unread == 0
    assert dict(file.tools) == {"kernel_log": 7}


def test_what_the_kernel_complains_of_and_nobody_knows_is_shown():
    _, file = read_text("[   13.500000] widget 0000:55:00.0: gadget failed to start\n", "dmesg")
    assert file.unread == 1
    assert len(file.complaints) == 1


def test_what_somebody_typed_is_not_joined_with_its_answer():
    """Lines near the width of the widest look folded; a command never is."""
    wide = 'openat(AT_FDCWD, "/dev/infiniband/uverbs2", O_RDWR|O_CLOEXEC) = -1 EPERM (denied)'
    text = (
        "root@pod-3:/work# strace -f -e trace=openat ibv_devinfo 2>&1 | grep uverbs | head -2\n"
        f"{wide}\n{wide.replace('uverbs2', 'uverbs3')}\n"
    )
    facts, _ = read_text(text, "session.txt")
    opened = [one.path for one in facts if isinstance(one, AdapterOpenFailed)]
    assert opened == ["/dev/infiniband/uverbs2", "/dev/infiniband/uverbs3"]
