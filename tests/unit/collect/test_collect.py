"""The script reads and only reads; every way brings back a whole bundle or says why not."""

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from weft import plugins
from weft.collect import gather as gathering
from weft.collect import ways
from weft.collect.gather import gather
from weft.collect.script import Wish, script
from weft.collect.way import Way
from weft.errors import SpecError
from weft.observe.bundle import observe
from weft.observe.facts import Counter

QUICK = Wish(interval_s=1)
CHANGES = re.compile(
    r"\b(?:rm|mv|cp|dd|tee|kill|reboot|modprobe|insmod|apt|yum|dnf|pip|curl|wget|nc|scp|chmod|"
    r"chown|mount|umount|sysctl -w|ip link set|ethtool -[sKGACL]|ibportstate|"
    r"systemctl (?:start|stop|restart|enable)|nvidia-smi -[a-z]*r|perfquery -[rR])\b"
)


def _words(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip().startswith("keep")]


def _way(name: str) -> Way:
    return plugins.load(ways, name, Way)


@pytest.mark.parametrize("wish", [QUICK, Wish(fabric=True, redact=True)])
def test_no_command_of_the_script_changes_anything(wish):
    lines = _words(script(wish))
    assert len(lines) > 40
    assert not [line for line in lines if CHANGES.search(line)]


@pytest.mark.parametrize("wish", [QUICK, Wish(fabric=True, redact=True)])
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
    result = gather(script(QUICK), _way("local"), [""], folder)
    assert result.complete, result
    return folder / "local.tar.gz"


def test_counters_of_a_bundle_have_two_samples_with_their_times(bundle):
    counters = observe(bundle).of(Counter)
    first = {one.sampled_s for one in counters if one.sample == 1}
    second = {one.sampled_s for one in counters if one.sample == 2}
    assert len(first) == len(second) == 1
    assert second.pop() - first.pop() >= 1


def test_a_bundle_names_its_host(bundle):
    host = Path("/proc/sys/kernel/hostname").read_text().strip()
    assert {one.host for one in observe(bundle).of(Counter)} == {host}


def _pretend(folder: Path, name: str, body: str) -> None:
    tool = folder / name
    tool.write_text(f"#!/bin/sh\n{body}\n")
    tool.chmod(0o755)


@pytest.fixture
def tools(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return folder


def test_over_ssh_each_host_gives_a_bundle_or_a_reason(tools, tmp_path):
    _pretend(
        tools,
        "ssh",
        'while [ "$1" != -- ]; do shift; done; host=$2; shift 2\n'
        'if [ "$host" = down ]; then echo "connect: no route to host" >&2; exit 255; fi\n'
        "exec $1",
    )
    told = []
    result = gather(
        script(QUICK), _way("ssh"), ["root@node-1", "down"], tmp_path / "out", told.append
    )
    good, bad = result.hosts
    assert Path(good.file).is_file()
    assert observe(Path(good.file)).of(Counter)
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
            gather("", _way(way), [name], tmp_path)


def test_an_archive_that_does_not_end_is_given_up(tools, tmp_path, monkeypatch):
    monkeypatch.setattr(gathering, "MOST_BYTES", 1 << 20)
    _pretend(tools, "ssh", "cat /dev/zero")
    [taken] = gather("", _way("ssh"), ["node"], tmp_path / "out").hosts
    assert "more than" in taken.failure
    assert not list((tmp_path / "out").iterdir())


def test_a_host_that_hangs_is_given_up_with_all_that_it_started(tools, tmp_path, monkeypatch):
    """The child holds standard output open: ending its parent alone would wait for it."""
    monkeypatch.setattr(gathering, "PATIENCE_S", 0.5)
    _pretend(tools, "ssh", "sleep 600 & wait")
    [taken] = gather("", _way("ssh"), ["node"], tmp_path / "out").hosts
    assert "left with -15" in taken.failure
    assert not list((tmp_path / "out").iterdir())


def test_an_interrupt_ends_what_runs_and_starts_no_more(tools, tmp_path, monkeypatch):
    monkeypatch.setattr(gathering, "AT_ONCE", 2)
    _pretend(tools, "ssh", f'echo $$ >>{tmp_path}/pids; [ "$6" = quick ] && exit 1; sleep 600')

    def stop(_):
        while (tmp_path / "pids").read_text().count("\n") < 2:
            time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gather("", _way("ssh"), ["quick", "b", "c", "d"], tmp_path / "out", stop)
    assert not list((tmp_path / "out").iterdir())
    assert (tmp_path / "pids").read_text().count("\n") <= 3


def test_a_host_named_twice_is_refused(tmp_path):
    with pytest.raises(SpecError, match="twice"):
        gather("", _way("ssh"), ["a", "a"], tmp_path)


@pytest.fixture(scope="module")
def hidden(tmp_path_factory) -> str:
    """What redaction leaves of some lines."""
    folder = tmp_path_factory.mktemp("hidden")
    tools = folder / "tools"
    tools.mkdir()
    _pretend(
        tools,
        "ibstat",
        "cat <<END\n"
        "    inet 172.16.5.9/24 brd 172.16.5.255 peer 172.16.5.10 via 127.0.0.1 169.254.3.4\n"
        "    link/ether a0:88:c2:01:02:03 again A0:88:C2:01:02:03\n"
        "    GID 0000:0000:0000:0000:0000:ffff:ac10:0509 fe80::a288:c2ff:fe01:0203\n"
        "    Port GUID: 0xa088c20300ab1234 S-a088c20300ab1234 \n"
        "    GID fe80:0000:0000:0000:a088:c203:00ab:1234 inet6 2001:db8:7::9/64\n"
        "    Serial Number : 1652922012345 GPU-1f0c2b3a-1111-2222-3333-444455556666\n"
        f"    node name {Path('/proc/sys/kernel/hostname').read_text().strip()}-suffix\n"
        "END",
    )
    (folder / "collect.sh").write_text(script(Wish(interval_s=1, redact=True)))
    subprocess.run(
        ["sh", "collect.sh", "out"], cwd=folder, check=True, capture_output=True,
        env={"PATH": f"{tools}:/usr/bin:/bin"},
    )  # fmt: skip
    return (folder / "out/hosts/host-0/ibstat").read_text()


def test_redaction_keeps_what_addresses_have_to_do_with_one_another(hidden):
    near, broadcast, peer = re.findall(r"10\.0\.\d+\.(?:9|255|10)\b", hidden)[:3]
    assert len({one.rpartition(".")[0] for one in (near, broadcast, peer)}) == 1
    assert "127.0.0.1 169.254.3.4" in hidden
    cards = re.findall(r"02:00:00:00:00:\d\d", hidden)
    assert len(cards) == 2
    assert len(set(cards)) == 1
    last = near.split(".")
    assert f"ffff:{int(last[0]):02x}{int(last[1]):02x}:{int(last[2]):02x}09" in hidden


def test_a_guid_has_one_substitute_wherever_it_stands(hidden):
    [number] = set(re.findall(r"(?:0x|S-)(0200000000\w{6})", hidden))
    groups = ":".join(number[at : at + 4] for at in range(0, 16, 4))
    assert f"fe80:0000:0000:0000:{groups}" in hidden


@pytest.mark.parametrize(
    "secret",
    [
        "00ab1234",
        "00ab:1234",
        "db8",
        "172.16",
        "a0:88",
        "A0:88",
        "ac10",
        "a288",
        "1652922012345",
        "1f0c2b3a",
    ],
)
def test_redaction_hides(secret, hidden):
    assert secret not in hidden


def test_redaction_hides_the_name_of_the_host(hidden):
    assert "node name host-0-suffix" in hidden
