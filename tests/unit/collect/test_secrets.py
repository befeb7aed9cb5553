"""Secrets are removed on the host, from every output, by every awk, and counted."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from elsewhere import pretend
from weft.collect.probe import all_probes
from weft.collect.script import Wish, script
from weft.collect.secrets import program, secrets

AWKS = ("mawk", "gawk", "original-awk", "busybox")
KEPT = """\
mlx5_0:1 remote key violation, lkey 0x1234 rkey 0x5678
NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>
/sys/class/infiniband/mlx5_0/ports/1/pkeys/0:0xffff
P_Key 0x7fff, Mkey:............................0x0000000000000000
password authentication failed for user
basic memory management, bearer of the load
"""


def _filtered(text, awk=("awk",), salt="s3"):
    words = [*awk, "-v", f"secret={salt}", "-v", "file=x", "-v", "report=/dev/null", program()]
    return subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("awk", AWKS)
def test_the_example_of_each_kind_is_removed_by_every_awk(awk):
    if not shutil.which(awk):
        pytest.skip(f"{awk} is not installed")
    words = (awk, "awk") if awk == "busybox" else (awk,)
    text = "".join(f"{one.line}\n" for one in secrets())
    lines = _filtered(text, words).splitlines()
    for one, line in zip(secrets(), lines, strict=True):
        assert one.planted
        assert one.planted not in line, one.kind
        assert line.startswith(one.example.partition("⟨")[0][:4])


def test_there_are_forty_kinds_and_each_has_a_source():
    assert len(secrets()) >= 40
    assert all(one.source for one in secrets())
    assert not [one for one in secrets() if "\\" in one.before + one.value]


def test_what_a_diagnosis_needs_stays():
    assert _filtered(KEPT) == KEPT


def test_a_partition_keeps_its_membership_and_is_one_on_every_host():
    full, limited = re.findall(r"0x\w{4}", _filtered("P_Key 0x8123\nP_Key: 0x0123\n"))
    assert int(full, 16) - int(limited, 16) == 0x8000
    assert full != "0x8123"
    assert _filtered("P_Key 0x8123", salt="s3") != _filtered("P_Key 0x8123", salt="s4")


def test_a_private_key_of_many_lines_is_removed():
    body = "\n".join(["MIIEowIBAAKCAQEA1c7" * 3] * 20)
    text = f"a\n-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\nb\n"
    assert _filtered(text).split() == ["a", "<removed:private", "key>", "b"]


def test_what_a_maintained_detector_finds_is_removed():
    """Yelp's detect-secrets finds the planted tokens before, and none of them after."""
    pytest.importorskip("detect_secrets", reason="detect-secrets is not installed")
    from detect_secrets.core.scan import scan_line  # noqa: PLC0415 - a tool of the developer
    from detect_secrets.settings import default_settings  # noqa: PLC0415 - as above

    with default_settings():
        known = [one for one in secrets() if list(scan_line(one.line))]
        assert len(known) >= 18
        for one in known:
            found = {str(hit.secret_value) for hit in scan_line(_filtered(one.line))}
            assert not {hit for hit in found if hit in one.planted and len(hit) > 3}, one.kind


def _tools(folder: Path) -> list[str]:
    """Put a tool that prints every secret in the place of each command of every probe."""
    planted = folder / "planted"
    planted.write_text("".join(f"{one.line}\n" for one in secrets()))
    tools = folder / "tools"
    tools.mkdir()
    names = {c.words.split()[0] for one in all_probes() for c in (*one.commands, *one.counters)}
    real = Path("/bin/cat")
    for name in names:
        own = 'if [ "$*" = -n ]; then echo gpu-1; exit; fi\n' if name == "uname" else ""
        own += 'case "$*" in -qsx*) exit 1;; esac\n' if name == "grep" else ""
        pretend(tools, name, f"{own}{real} {planted}")
    return sorted(names)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    assert len(_tools(folder)) > 20
    (folder / "collect.sh").write_text(script(Wish(interval_s=1, fabric=True, salt="s3")))
    done = subprocess.run(
        ["sh", "collect.sh", "out"], cwd=folder, check=True, capture_output=True, text=True,
        env={"PATH": f"{folder}/tools:/usr/bin:/bin"},
    )  # fmt: skip
    assert "secrets were removed" in done.stderr
    return folder / "out/hosts/gpu-1"


def test_no_secret_planted_in_any_probe_is_in_the_bundle(bundle):
    files = [one for one in bundle.rglob("*") if one.is_file()]
    assert len(files) > 60
    for file in files:
        text = file.read_text()
        assert not [one.kind for one in secrets() if one.planted in text], file


def test_the_bundle_lists_what_was_removed(bundle):
    lines = (bundle / "removed").read_text().splitlines()
    kinds = {line.split(" ", 3)[3].rpartition(" in ")[0] for line in lines}
    assert kinds >= {one.kind for one in secrets()} - {"npm token", "join token"}
    assert {line.rpartition(" in ")[2] for line in lines} >= {"dmesg", "ibstat", "lspci_-vv"}


def test_secrets_stay_on_request():
    text = script(Wish(keep_secrets=True))
    assert "without_secrets() { cat; }" in text
    assert "need date head mkdir rm tail tr uname cat" in text


def test_the_domain_of_the_site_is_learnt(tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    pretend(tools, "uname", 'if [ "$*" = -n ]; then echo gpu-1; else echo Linux; fi')
    said = "systemd: hostname gpu-1.rack.acme-ai.example, peer gw.rack.acme-ai.example"
    pretend(tools, "dmesg", f"echo {said}")
    (tmp_path / "collect.sh").write_text(script(Wish(interval_s=1, redact=True, salt="s3")))
    subprocess.run(
        ["sh", "collect.sh", "out"], cwd=tmp_path, check=True, capture_output=True,
        env={"PATH": f"{tools}:/usr/bin:/bin"},
    )  # fmt: skip
    (place,) = (tmp_path / "out/hosts").iterdir()
    assert "acme-ai" not in (place / "dmesg").read_text()
