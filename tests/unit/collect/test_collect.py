"""The script reads and only reads; every way brings back a whole bundle or says why not."""

import ipaddress
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from importlib.resources import files
from pathlib import Path

import pytest

from elsewhere import pretend, pretend_kubectl, pretend_shell, runs, sleeper, until
from weft.collect import gather as gathering
from weft.collect.gather import gather
from weft.collect.script import Wish, script
from weft.collect.way import find as _way
from weft.doctor.diagnose import diagnose
from weft.errors import SpecError
from weft.readers.places import places
from weft.readers.read import read as read_all

QUICK = Wish(interval_s=1)
CHANGES = re.compile(
    r"\b(?:rm|mv|cp|dd|tee|kill|reboot|modprobe|insmod|apt|yum|dnf|pip|curl|wget|nc|scp|chmod|"
    r"chown|mount|umount|sysctl -w|ip link set|ethtool -[sKGACL]|ibportstate|"
    r"systemctl (?:start|stop|restart|enable)|nvidia-smi -[a-z]*r|perfquery -[rR])\b"
)


def _words(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip().startswith("keep")]


@pytest.mark.parametrize("wish", [QUICK, Wish(fabric=True, redact=True, salt="s3")])
def test_no_command_of_the_script_changes_anything(wish):
    lines = _words(script(wish))
    assert len(lines) > 40
    assert not [line for line in lines if CHANGES.search(line)]


@pytest.mark.parametrize("wish", [QUICK, Wish(fabric=True, redact=True, salt="s3")])
def test_the_script_is_plain_posix_shell(wish, tmp_path):
    file = tmp_path / "collect.sh"
    file.write_text(script(wish))
    assert "# <" not in script(wish)
    subprocess.run(["sh", "-n", file], check=True)
    if shutil.which("shellcheck"):
        subprocess.run(["shellcheck", "--shell=sh", file], check=True)


def test_what_every_host_sees_alike_is_asked_for_only_on_request():
    assert "keep ibqueryerrors" not in script(QUICK)
    assert "keep ibqueryerrors" in script(Wish(fabric=True))


@pytest.mark.parametrize("interval_s", [0, 3601, -1])
def test_an_interval_out_of_range_is_refused(interval_s):
    with pytest.raises(SpecError, match="1 to 3600 s"):
        script(Wish(interval_s=interval_s))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bundles")
    result = gather(QUICK, _way("local"), [""], folder)
    assert result.complete, result
    return folder / "local.tar.gz"


def test_counters_of_a_bundle_have_two_samples_with_their_times(bundle):
    first, second = sorted({place.sampled_s for place in places(bundle) if place.sampled_s})
    assert second - first >= 1


def test_a_bundle_names_its_host(bundle):
    host = Path("/proc/sys/kernel/hostname").read_text().strip()
    assert {place.host for place in places(bundle)} == {host}


@pytest.fixture
def tools(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return folder


def test_over_ssh_each_host_gives_a_bundle_or_a_reason(tools, tmp_path):
    pretend(
        tools,
        "ssh",
        'while [ "$1" != -- ]; do shift; done; host=$2; shift 2\n'
        'if [ "$host" = down ]; then echo "connect: no route to host" >&2; exit 255; fi\n'
        "exec $1",
    )
    told = []
    result = gather(QUICK, _way("ssh"), ["root@node-1", "down"], tmp_path / "out", told.append)
    good, bad = result.hosts
    assert Path(good.file).is_file()
    assert any(place.sampled_s for place in places(Path(good.file)))
    assert bad.file == ""
    assert "no route to host" in bad.failure
    assert not result.complete
    assert {one.host for one in told} == {"root@node-1", "down"}
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["root_node-1.tar.gz"]


def test_through_kubectl_the_words_name_namespace_pod_and_container():
    words = _way("kubectl").words("training/worker-0:main")
    assert words[:6] == ("kubectl", "exec", "--stdin", "--namespace", "training", "worker-0")
    assert words[6:8] == ("--container", "main")


@pytest.mark.parametrize("name", ["-oProxyCommand=x", "a b", "", "a;b", "$(x)", "a\nb"])
def test_a_name_that_could_be_an_option_or_a_command_is_refused(name, tmp_path):
    for way in ("ssh", "kubectl"):
        with pytest.raises(SpecError, match="is no"):
            gather(QUICK, _way(way), [name], tmp_path)


def test_an_archive_that_does_not_end_is_given_up(tools, tmp_path, monkeypatch):
    monkeypatch.setattr(gathering, "MOST_BYTES", 1 << 20)
    pretend(tools, "ssh", "cat /dev/zero")
    [taken] = gather(QUICK, _way("ssh"), ["node"], tmp_path / "out").hosts
    assert "more than" in taken.failure
    assert not list((tmp_path / "out").iterdir())


def test_a_host_that_hangs_is_given_up_with_all_that_it_started(tools, tmp_path, monkeypatch):
    """The child holds standard output open: ending its parent alone would wait for it."""
    monkeypatch.setattr(gathering, "PATIENCE_S", -0.5)
    monkeypatch.setattr(gathering, "LONGEST_S", 0)
    pretend(tools, "ssh", "sleep 600 & wait")
    [taken] = gather(QUICK, _way("ssh"), ["node"], tmp_path / "out").hosts
    assert "exited with code -15" in taken.failure
    assert not list((tmp_path / "out").iterdir())


def test_an_interrupt_ends_what_runs_and_starts_no_more(tools, tmp_path, monkeypatch):
    monkeypatch.setattr(gathering, "AT_ONCE", 2)
    pretend(tools, "ssh", f'echo $$ >>{tmp_path}/pids; [ "$6" = quick ] && exit 1; sleep 600')

    def stop(_):
        while (tmp_path / "pids").read_text().count("\n") < 2:
            time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gather(QUICK, _way("ssh"), ["quick", "b", "c", "d"], tmp_path / "out", stop)
    assert not list((tmp_path / "out").iterdir())
    assert (tmp_path / "pids").read_text().count("\n") <= 3


def test_a_host_named_twice_is_refused(tmp_path):
    with pytest.raises(SpecError, match="twice"):
        gather(QUICK, _way("ssh"), ["a", "a"], tmp_path)


NO_SHELL = (
    "error: Internal error occurred: error executing command in container: failed to exec in "
    'container: failed to start exec "9f": OCI runtime exec failed: exec failed: unable to '
    'start container process: exec: "sh": executable file not found in $PATH: unknown'
)


def test_a_pod_without_a_shell_is_named_and_the_others_give_their_bundles(tools, tmp_path):
    said = f"cat >&2 <<'END'\n{NO_SHELL}\nEND\nexit 1"
    there = 'while [ "$1" != -- ]; do shift; done; shift\nexec "$@"'
    pretend(tools, "kubectl", f"case $3 in bare) {said};; esac\n{there}")
    words = ("collect", "--via", "kubectl", "bare", "pod-0", "--out", tmp_path / "out")
    done = subprocess.run(
        [sys.executable, "-m", "weft", *words, "--interval", "1"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 3
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["pod-0.tar.gz"], done.stderr
    assert (
        "bare: kubectl exited with code 1: there is no shell (sh), so nothing inside"
        in done.stderr
    )
    assert "1 of 2 bundles" in done.stdout


def _only(folder: Path, *names: str) -> dict[str, str]:
    """Return an environment in which there are a few programs alone."""
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(shutil.which(name))
    return {"PATH": str(folder), "TMPDIR": str(folder)}


FEW = ("date", "head", "mkdir", "rm", "sleep", "tail", "tr", "uname")


def test_a_pod_with_a_shell_and_little_else_says_what_it_lacks(tmp_path):
    place = "PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin:/opt/mellanox/iproute2/sbin"
    text = script(QUICK)
    assert place in text
    done = subprocess.run(
        ["/bin/sh", "-s", "--", "-"], input=text.replace(place, "PATH=$PATH").encode(),
        check=False, capture_output=True, env=_only(tmp_path / "few", *FEW[1:]),
    )  # fmt: skip
    assert done.returncode == 127
    assert b"nothing was collected: there is a shell, but not date" in done.stderr


def test_a_pod_without_gzip_mktemp_and_grep_gives_its_bundle(tmp_path):
    place = "PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin:/opt/mellanox/iproute2/sbin"
    done = subprocess.run(
        ["/bin/sh", "-s", "--", "-"], input=script(QUICK).replace(place, "PATH=$PATH").encode(),
        check=False, capture_output=True,
        env=_only(tmp_path / "few", *FEW, "tar", "cat", "awk"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (tmp_path / "pod.tar").write_bytes(done.stdout)
    read = read_all(tmp_path / "pod.tar").files
    assert any(one.file.endswith("not_read") for one in read)
    assert not [one for one in (tmp_path / "few").iterdir() if one.name.startswith("weft.")]


@pytest.mark.parametrize("shell", ["sh", "bash", "busybox", "mksh"])
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_what_left_the_session_of_the_script_ends_with_it(shell, sign, tools, tmp_path):
    """A tool may start a daemon, which is in no group and no session of anybody who asked."""
    real = shutil.which(shell)
    if not real or not shutil.which("setsid"):
        pytest.skip(f"{shell} or setsid is not installed")
    pretend_shell(tools, real)
    pretend_kubectl(tools)
    daemon, tool = tmp_path / "daemon", tmp_path / "pid"
    pretend(tools, "daemon", f"trap '' TERM HUP\n{sleeper(daemon)}")
    pretend(tools, "ibstat", f"setsid -f {tools}/daemon >/dev/null\n{sleeper(tool)}")
    words = ("collect", "--via", "kubectl", "pod-0", "--out", tmp_path / "out")
    asking = subprocess.Popen(
        [sys.executable, "-m", "weft", *words, "--interval", "1"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    until(lambda: daemon.exists() and tool.exists(), "the script to reach ibstat")
    pids = [int(one.read_text()) for one in (daemon, tool)]
    if sign is signal.SIGKILL:
        os.killpg(asking.pid, sign)
    asking.send_signal(sign)
    asking.wait(timeout=60)
    until(lambda: not any(map(runs, pids)), "the daemon to end as well")


@pytest.mark.parametrize("shell", ["sh", "bash", "busybox", "mksh"])
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_what_was_started_in_a_pod_ends_with_an_interrupt_or_a_kill(
    shell, sign, tools, tmp_path
):
    """Even SIGKILL: whoever asked cannot tell anybody, but its end of the pipe closes."""
    real = shutil.which(shell)
    if not real:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "scratch").mkdir()
    pretend_shell(tools, real)
    pretend_kubectl(tools)
    pretend(tools, "ibstat", sleeper(tmp_path / "pid"))
    words = ("collect", "--via", "kubectl", "pod-0", "--out", tmp_path / "out")
    asking = subprocess.Popen(
        [sys.executable, "-m", "weft", *words, "--interval", "1"],
        env={**os.environ, "TMPDIR": str(tmp_path / "scratch")},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    until((tmp_path / "pid").exists, "the script to reach ibstat")
    pid = int((tmp_path / "pid").read_text())
    if sign is signal.SIGKILL:
        os.killpg(asking.pid, sign)
    asking.send_signal(sign)
    asking.wait(timeout=60)
    until(lambda: not runs(pid), "ibstat to end")
    until(
        lambda: (
            not [one for one in (tmp_path / "scratch").iterdir() if one.name[:5] == "weft."]
        ),
        "its scratch folder to go",
    )
    assert not list((tmp_path / "out").glob("*.tar.gz"))


@pytest.mark.parametrize("places", ["/proc/none", "/proc/none /dev/shm"])
def test_a_pod_without_a_folder_to_write_in_says_so_or_uses_shared_memory(places, tmp_path):
    text = script(QUICK).replace("/var/tmp /dev/shm;", f"{places};")  # noqa: S108 - replaced
    done = subprocess.run(
        ["sh", "-s", "--", "-"], input=text.encode(), cwd=tmp_path, check=False,
        capture_output=True, env={**os.environ, "TMPDIR": "/proc/none"},
    )  # fmt: skip
    if "shm" in places:
        assert done.stdout[:2] == b"\x1f\x8b"
    else:
        assert b"no folder to write in" in done.stderr
        assert done.returncode == 1


def test_a_script_that_was_cut_on_the_way_does_nothing(tmp_path):
    text = script(QUICK)
    for cut in (len(text) // 2, text.rindex("main ")):
        subprocess.run(["sh", "-s", "out"], input=text[:cut].encode(), cwd=tmp_path,
                       check=False, capture_output=True)  # fmt: skip
        assert not list(tmp_path.iterdir())


def test_an_interval_longer_than_the_patience_of_all_is_waited_for(
    tools, tmp_path, monkeypatch
):
    monkeypatch.setattr(gathering, "PATIENCE_S", 5.0)
    given = []

    class Timer(threading.Timer):
        def __init__(self, interval, *rest):
            given.append(interval)
            super().__init__(interval, *rest)

    monkeypatch.setattr(gathering.threading, "Timer", Timer)
    pretend(tools, "ssh", "exit 1")
    gather(Wish(interval_s=3600), _way("ssh"), ["node"], tmp_path / "out")
    assert given == [gathering.LONGEST_S + 3600 + 5.0]


TRICKY = """\
    inet 172.16.5.9/24 brd 172.16.5.255 peer 172.16.5.10 via 127.0.0.1 169.254.3.4
    link/ether a0:88:c2:01:02:03 brd ff:ff:ff:ff:ff:ff again A0:88:C2:01:02:03
    neighbours a0-88-c2-01-02-03 and a088.c201.0203 and enxa088c2010203: mtu 9000
    GID 0000:0000:0000:0000:0000:ffff:ac10:0509 fe80::a288:c2ff:fe01:0203 ::ffff:172.16.5.9
    GID: 00:00:00:00:00:00:00:00:00:00:255:255:172:16:05:09
    GID: 254:128:00:00:00:00:00:00:160:136:194:03:00:171:18:52
    Port GUID: 0xa088c20300ab1234 S-a088c20300ab1234 node_guid: a088:c203:00ab:1234
    GID fe80:0000:0000:0000:a088:c203:00ab:1234 inet6 2001:db8:7::9/64 ::1 ff02::1
    full 2001:0db8:0007:0000:0000:0000:0000:0009 packed fe80000000000000a088c20300ab1234
    link/infiniband 00:00:10:49:fe:80:00:00:00:00:00:00:a0:88:c2:03:00:ab:12:34
    Serial Number : 1652922012345 GPU-1f0c2b3a-1111-2222-3333-444455556666
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1f0c2b3a-1111-2222-3333-444455556666)
0000:18:00.0 1a:00.0 10:20:30 2026-01-02T10:20:30 c10d::Backend 5.8-1.1.2.1 28.39.1002
driver version: 24.10.1.1 rate 200 port_xmit_data: 1234567890123456 NVRM: Xid 79, pid=1
    node name HOST-suffix and HOST.example.org and x-HOST-y and XHOSTX
carol@login:~$ ls /home/carol/run uid=1001(carol) /Users/dave/x
    "gpu-b08 mlx5_0" "MF0;leaf-b1:MQM9700/U1" gpu-b08.cluster leaf-b1 gpu-b080 GPU-B08
    peer 10.1.2.3<3456> tcp://10.1.2.3:29500 ip-10-1-2-3.ec2.internal
"""
AWKS = ("awk", "mawk", "gawk", "original-awk", "busybox")


@pytest.fixture(scope="module", params=AWKS)
def hidden(request, tmp_path_factory) -> str:
    """What redaction leaves of tricky lines, by each awk there is."""
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")
    folder = tmp_path_factory.mktemp("hidden")
    tools = folder / "tools"
    tools.mkdir()
    host = Path("/proc/sys/kernel/hostname").read_text().strip()
    (folder / "tricky").write_text(TRICKY.replace("HOST", host))
    pretend(tools, "ibstat", f"cat {folder}/tricky")
    if request.param != "awk":
        busy = " awk" if request.param == "busybox" else ""
        pretend(tools, "awk", f'exec {shutil.which(request.param)}{busy} "$@"')
    text = script(Wish(interval_s=1, redact=True, salt="s3"))
    (folder / "collect.sh").write_text(text)
    subprocess.run(
        ["sh", "collect.sh", "out"], cwd=folder, check=True, capture_output=True,
        env={"PATH": f"{tools}:/usr/bin:/bin"},
    )  # fmt: skip
    [place] = (folder / "out/hosts").iterdir()
    assert host not in place.name
    assert not [one for one in (folder / "out").rglob("*") if one.name.startswith(".")]
    return (place / "ibstat").read_text()


def _line(text: str, with_: str) -> str:
    return next(one for one in text.splitlines() if with_ in one)


def test_addresses_of_one_subnet_stay_in_one_and_the_same_address_is_one(hidden):
    near, broadcast, peer = re.findall(r"172\.\d+\.\d+\.(?:9|255|10)\b", hidden)[:3]
    assert len({one.rpartition(".")[0] for one in (near, broadcast, peer)}) == 1
    assert "127.0.0.1 169.254.3.4" in hidden
    one, two, three, last = (int(part) for part in near.split("."))
    assert f"0000:ffff:{one:02x}{two:02x}:{three:02x}{last:02x} " in hidden
    assert f"::ffff:{near}" in hidden
    assert f"255:255:{one:02}:{two:02}:{three:02}:{last:02}" in hidden
    [peer] = set(re.findall(r"(10\.\d+\.\d+\.3)(?=<3456>|:29500)", hidden))
    assert peer != "10.1.2.3"


def test_a_hardware_address_is_one_however_it_is_written(hidden):
    lines = "\n".join(hidden.splitlines()[2:4])
    spelled = re.findall(
        r"\b02(?:[:-][0-9a-f]{2}){5}\b|\b02[0-9a-f]{2}(?:\.[0-9a-f]{4}){2}\b", lines
    )
    spelled += re.findall(r"enx(\w{12})", lines)
    assert len(spelled) == 5
    [digits] = {re.sub(r"[^0-9a-f]", "", one) for one in spelled}
    of_link = ipaddress.ip_address(re.findall(r"fe80::\w+:\w+ff:fe\w+:\w+", hidden)[0])
    assert of_link.packed[8:] == bytes.fromhex(f"00{digits[2:6]}fffe{digits[6:]}")
    assert "ff:ff:ff:ff:ff:ff" in hidden


def test_a_guid_has_one_substitute_wherever_it_stands(hidden):
    [number] = set(re.findall(r"(?:0x|S-)(0200\w{12})", hidden))
    groups = [number[at : at + 4] for at in range(0, 16, 4)]
    pairs = [number[at : at + 2] for at in range(0, 16, 2)]
    assert f"fe80:0000:0000:0000:{':'.join(groups)}" in hidden
    assert f"node_guid: {':'.join(groups)}" in hidden
    assert f"fe80000000000000{number}" in hidden
    assert f"fe:80:00:00:00:00:00:00:{':'.join(pairs)}" in hidden
    assert "254:128:00:00:00:00:00:00:" + ":".join(f"{int(p, 16):02}" for p in pairs) in hidden


def test_ipv6_is_one_address_short_or_long(hidden):
    [short] = re.findall(r"inet6 (\S+)/64", hidden)
    [long] = re.findall(r"full (\S+)", hidden)
    assert ipaddress.ip_address(short) == ipaddress.ip_address(long)
    assert "::1 ff02::1" in hidden


def test_names_are_one_name_wherever_they_stand(hidden):
    names = re.findall(r"host-[0-9a-f]{8}", _line(hidden, "node name"))
    assert len(names) == 3
    assert len(set(names)) == 1
    assert "suffix" in hidden
    near = _line(hidden, "mlx5_0")
    [neighbour] = re.findall(r'"(host-\w+) mlx5_0"', near)
    assert near.count(neighbour) == 3
    [switch] = re.findall(r"MF0;(host-\w+):MQM9700/U1", near)
    assert near.count(switch) == 2
    assert "gpu-b080" in near
    user = set(re.findall(r"user-[0-9a-f]{6}", _line(hidden, "@")))
    assert len(user) == 2


def test_what_is_no_name_and_no_address_stays(hidden):
    for line in TRICKY.splitlines()[12:14]:
        assert line in hidden
    assert "NVIDIA H100 80GB HBM3 (UUID: GPU-" in hidden
    assert len(set(re.findall(r"GPU-[0-9a-f-]{36}", hidden))) == 1


@pytest.mark.parametrize(
    "secret",
    [
        "00ab1234", "00ab:1234", "00:ab:12:34", "db8", "172.16.5", "172:16:05", "ac10:0509",
        "a0:88",
        "A0:88", "a0-88", "a088", "a288", "1652922012345", "1f0c2b3a", "gpu-b08 ", "leaf-b1",
        "GPU-B08", "carol@", "/carol", "dave", "10.1.2.3", "10-1-2-3", "171:18:52",
    ],
)  # fmt: skip
def test_redaction_hides(secret, hidden):
    assert secret not in hidden


def test_another_secret_makes_other_names_and_is_needed():
    with pytest.raises(SpecError, match="salt"):
        script(Wish(redact=True, salt="a'b"))
    assert "s3cret" in script(Wish(redact=True, salt="s3cret"))
    assert "'" not in (files("weft.collect") / "redact.awk").read_text("utf-8")


def test_the_secret_is_new_in_every_printed_script():
    texts = [
        subprocess.run(
            [sys.executable, "-m", "weft", "collect", "--redact"],
            check=True,
            capture_output=True,
        ).stdout
        for _ in range(2)
    ]
    assert texts[0] != texts[1]


IBSTAT = """CA 'mlx5_0'
	CA type: MT4129
	Number of ports: 1
	Firmware version: 28.39.1002
	Node GUID: 0xa088c20300ab1234
	System image GUID: 0xa088c20300ab1234
	Port 1:
		State: Down
		Physical state: Polling
		Rate: 10
		Base lid: 65535
		SM lid: 0
		Port GUID: 0xa088c20300ab1234
		Link layer: InfiniBand
"""
RULED = """DEV PORT INDEX GID IPv4 VER DEV
mlx5_1 1 0 fe80:0000:0000:0000:a288:c2ff:fe01:0203  v1 ens1
mlx5_1 1 1 fe80:0000:0000:0000:a288:c2ff:fe01:0203  v2 ens1
n_gids_found=2
"""
KERNEL = """\
[  105.1] NVRM: Xid (PCI:0000:18:00): 79, pid=811, name=python3, GPU has fallen off the bus.
[  106.2] mlx5_core 0000:2a:00.0: mlx5_pcie_event:301: insufficient power on the slot (25W).
"""


def test_a_diagnosis_is_the_same_of_a_redacted_bundle(tools, tmp_path):
    for name, text in (("ibstat", IBSTAT), ("show_gids", RULED), ("dmesg", KERNEL)):
        (tools / f"{name}.txt").write_text(text)
        pretend(tools, name, f"cat {tools}/{name}.txt")
    seen = []
    for redact in (False, True):
        wish = Wish(interval_s=1, redact=redact, salt="s3")
        gather(wish, _way("local"), [""], tmp_path / str(redact))
        found = diagnose([tmp_path / str(redact)]).findings
        seen.append([(one.cause, one.severity, one.probability_ratio) for one in found])
    assert seen[0] == seen[1]
    assert {"gpu-xid-off-the-bus"} <= {cause for cause, *_ in seen[0]}
    assert len(seen[0]) > 1


def test_two_hosts_have_two_names_when_redacted_with_one_script(tools, tmp_path):
    """Each of two bundles says whose it is, and both say the same of a third."""
    names = []
    for host in ("gpu-1", "gpu-2"):
        pretend(tools, "uname", f'[ "$1" = -n ] && echo {host} || exec /usr/bin/uname "$@"')
        pretend(tools, "lldpctl", 'echo "    SysName:      leaf-9.example"')
        wish = Wish(interval_s=1, redact=True, salt="s3")
        gather(wish, _way("local"), [""], tmp_path / host)
        with tarfile.open(tmp_path / host / "local.tar.gz") as archive:
            [one] = [name for name in archive.getnames() if name.endswith("/lldpctl")]
            said = archive.extractfile(one).read().decode()
        names.append((one.split("/")[-2], said.split()[-1]))
    (first, leaf), (second, same) = names
    assert first != second
    assert leaf == same
    assert "leaf" not in leaf
