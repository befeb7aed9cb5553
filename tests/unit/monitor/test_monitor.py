"""The monitor: what a host shows as metrics, whatever state its files are in."""

import base64
import inspect
import os
import shutil
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import bcrypt
import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from ras_text import ras
from weft.cli import app
from weft.cli.commands.monitor import monitor as command
from weft.errors import SpecError
from weft.inventory.entity import attribute, kind
from weft.metrics.source import all_metrics, exporters
from weft.monitor import serve
from weft.monitor.sample import Host, sampled
from weft.monitor.series import KINDS, OWN, exported_elsewhere, metric_name, series
from weft.spec.load import preset

COUNTERS = ("symbol_error", "local_link_integrity_errors", "VL15_dropped")
HARDWARE = ("np_cnp_sent", "rp_cnp_ignored", "rnr_nak_retry_err", "rx_icrc_encapsulated")
ADAPTERS = 8


@pytest.fixture
def root(tmp_path):
    """A host with eight adapters below a folder, as a container sees it."""
    for number in range(ADAPTERS):
        port = tmp_path / f"sys/class/infiniband/mlx5_{number}/ports/1"
        for folder, names in (("counters", COUNTERS), ("hw_counters", HARDWARE)):
            (port / folder).mkdir(parents=True)
            for name in names:
                (port / folder / name).write_text(f"{100 + number}\n")
        (port / "state").write_text("4: ACTIVE\n")
    return tmp_path


def _monitor(root, cluster=None):
    made = serve.Monitor(Host(root=root), cluster)
    made.look()
    return made


def _shown(monitor):
    """Return every sample by its name and labels, as a scrape gives it."""
    text = generate_latest(serve.registry(monitor)).decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_counters_of_every_adapter_are_metrics(root):
    shown = _shown(_monitor(root))
    for number in range(ADAPTERS):
        own = (("device", f"mlx5_{number}"), ("port", "1"))
        assert shown["weft_port_rnr_nak_total", own] == 100 + number
        assert shown["weft_port_integrity_errors_total", own] == 100 + number
    assert shown["weft_monitor_up", ()] == 1


def test_what_other_exporters_have_is_left_to_them(root):
    names = {one.name for one in series(sampled(Host(root=root)))}
    assert names
    assert not names & {metric_name(path) for path in exported_elsewhere()}


@pytest.mark.parametrize(
    "row",
    [one for one in all_metrics() if one.exporter.name == OWN],
    ids=lambda row: row.metric,
)
def test_the_table_of_sources_has_the_names_of_the_monitor(row):
    """Alerts and dashboards read the table, so they read the monitor."""
    assert row.attribute not in exported_elsewhere()
    assert row.attribute.partition(".")[0] in KINDS
    assert row.metric == metric_name(row.attribute)
    assert (row.type == "counter") == (attribute(row.attribute).type == "counter")
    assert row.factor == 1


@pytest.mark.parametrize("name", KINDS)
def test_names_end_in_their_unit_and_counters_in_total(name):
    for told in kind(name).attributes.values():
        shown = metric_name(f"{name}.{told.name}")
        assert shown.startswith(f"weft_{name}_")
        assert shown.endswith("_total") == (told.type == "counter")
        assert not told.unit or any(
            shown.removesuffix("_total").endswith(unit) for unit in serve_units()
        ), f"{told.unit} has no ending: add it to UNITS"


def serve_units():
    from weft.monitor.series import UNITS  # noqa: PLC0415 - beside its only use

    return UNITS.values()


@pytest.mark.tool
@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_accepts_every_metric(root):
    text = generate_latest(serve.registry(_monitor(root, preset("hgx_h100_roce", hosts=4))))
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, b"")


def test_an_adapter_that_vanishes_is_a_metric(root):
    monitor = _monitor(root)
    own = (("device", "mlx5_7"), ("kind", "port"), ("port", "1"))
    assert _shown(monitor)["weft_present", own] == 1
    shutil.rmtree(root / "sys/class/infiniband/mlx5_7")
    monitor.look()
    shown = _shown(monitor)
    assert shown["weft_present", own] == 0
    assert shown["weft_monitor_up", ()] == 1
    assert ("weft_port_rnr_nak_total", (("device", "mlx5_7"), ("port", "1"))) not in shown


def test_one_host_asks_ras_for_the_ranks_of_all(tmp_path, monkeypatch):
    text = ras([40, 41, 41, 41], dead=(3,))
    (tmp_path / "ncclras").write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
    (tmp_path / "ncclras").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert not any("job" in name for name, _ in _shown_of(Host()))
    shown = _shown_of(Host(fabric=True))
    own = (("communicator", "0x9ab4"),)
    assert shown["weft_job_ranks", own] == 4
    assert shown["weft_job_ranks_missing", own] == 1
    assert shown["weft_job_ranks_behind", own] == 1
    assert shown["weft_job_launched_total", own] == 44


def _shown_of(host):
    monitor = serve.Monitor(host)
    monitor.look()
    return _shown(monitor)


def test_hostile_files_neither_hang_nor_end_it(root):
    port = root / "sys/class/infiniband/mlx5_0/ports/1/hw_counters"
    os.mkfifo(port / "pipe")
    (port / "loop").symlink_to(port / "loop")
    (port / "gone").symlink_to("/nowhere")
    (port / "zero").symlink_to("/dev/zero")
    (port / "folder").mkdir()
    (port / "np_cnp_sent").write_bytes(b"\xff\xfe\x00 12")
    (port / "rp_cnp_ignored").write_bytes(b"9" * 1_000_000)
    (port / os.fsdecode(b"na\xffme\x1b[31m")).write_text("1")
    shown = _shown(_monitor(root))
    assert shown["weft_monitor_up", ()] == 1
    assert shown["weft_port_rnr_nak_total", (("device", "mlx5_1"), ("port", "1"))] == 101


def test_a_host_without_anything_is_up_and_empty(tmp_path):
    shown = _shown(_monitor(tmp_path))
    assert shown["weft_monitor_up", ()] == 1
    assert not [name for name, _ in shown if name.startswith("weft_port")]


def test_a_look_that_fails_is_a_metric(root, monkeypatch):
    def fails(_):
        raise RuntimeError("nobody thought of it")

    monkeypatch.setattr(serve, "sampled", fails)
    assert _shown(_monitor(root))["weft_monitor_up", ()] == 0


def test_series_are_bounded(root, monkeypatch):
    monkeypatch.setattr("weft.monitor.series.MOST_SERIES", 5)
    assert len(list(series(sampled(Host(root=root))))) == 5


def test_expected_values_stand_beside_measured_ones(root):
    cluster = preset("dgx_h100", hosts=4)
    shown = _shown(_monitor(root, cluster))
    own = (("device", "mlx5_11"), ("port", "1"))
    rate = shown["weft_expected_port_rate_bytes_per_second", own]
    assert rate == pytest.approx(cluster.host.nic_bytes_per_s)
    ends = {
        dict(labels)["bound"]: value
        for (name, labels), value in shown.items()
        if name == "weft_expected_collective_busbw_bytes_per_second"
        and dict(labels)["n_nodes"] == "4"
    }
    assert 0 < ends["low"] <= ends["value"] <= ends["high"]


def test_findings_of_the_doctor_are_series(root):
    port = root / "sys/class/infiniband/mlx5_3/ports/1"
    (port / "counters/symbol_error").write_text("9000000\n")
    shown = _shown(_monitor(root))
    assert any(name == "weft_finding_probability_ratio" for name, _ in shown)


def test_a_file_for_node_exporter_is_whole_or_not_there(root, tmp_path, capsys):
    file = tmp_path / "weft.prom"
    assert app.run(["monitor", "--root", str(root), "--textfile", str(file)]) == 0
    assert "weft_monitor_up 1.0" in file.read_text()
    assert list(tmp_path.glob("weft.prom*")) == [file]
    nowhere = tmp_path / "none" / "weft.prom"
    assert app.run(["monitor", "--root", str(root), "--textfile", str(nowhere)]) == 3
    assert "cannot be written" in capsys.readouterr().err


def test_a_root_that_is_none_is_refused(tmp_path, capsys):
    assert app.run(["monitor", "--root", str(tmp_path / "x"), "--textfile", "y"]) == 2
    assert "--root" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [("- a\n", "no mapping"), ("http_server_config: {}\n", "is not read"),
     ("tls_server_config: {cert_file: a}\n", "key_file")],
)  # fmt: skip
def test_a_web_configuration_with_a_mistake_is_refused(tmp_path, text, said):
    file = tmp_path / "web.yml"
    file.write_text(text)
    with pytest.raises(SpecError, match=said):
        serve.web_config(file)


def _serving(root, web):
    """Serve on a free port in a thread of its own; return the port."""
    import socket  # noqa: PLC0415 - beside its only use

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monitor = serve.Monitor(Host(root=root))
    arguments = (monitor, "127.0.0.1", port, web, 3600.0)
    threading.Thread(target=serve.serve, args=arguments, daemon=True).start()
    return port


def _asked(address, header="", context=None):
    request = urllib.request.Request(address)  # noqa: S310 - an address of this test
    if header:
        request.add_header(
            "Authorization", "Basic " + base64.b64encode(header.encode()).decode()
        )
    for _ in range(100):
        with suppress(ConnectionError, urllib.error.URLError):
            try:
                with urllib.request.urlopen(  # noqa: S310 - as above
                    request, context=context, timeout=10
                ) as answer:
                    return answer.status, answer.read().decode()
            except urllib.error.HTTPError as refused:
                return refused.code, ""
        time.sleep(0.05)
    raise AssertionError("nobody answers")


def test_a_password_is_asked_for_where_one_is_configured(root):
    hashed = bcrypt.hashpw(b"secret", bcrypt.gensalt(4)).decode()
    port = _serving(root, serve.Web(users={"prometheus": hashed}))
    address = f"http://127.0.0.1:{port}/metrics"
    for header, code in (
        ("", 401), ("prometheus:wrong", 401), ("nobody:secret", 401),
        ("prometheus:secret", 200), ("prometheus:secret", 200), ("prometheus:wrong", 401),
    ):  # fmt: skip
        assert _asked(address, header)[0] == code, header


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_metrics_travel_over_tls(root, tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    port = _serving(root, serve.Web(certificate=certificate, key=key))
    context = ssl.create_default_context(cafile=str(certificate))
    status, text = _asked(f"https://127.0.0.1:{port}/metrics", context=context)
    assert status == 200
    assert "weft_monitor_up 1.0" in text


def test_the_port_is_that_of_the_scrape_configuration():
    assert exporters()[OWN].port == inspect.signature(command).parameters["port"].default


def test_the_command_looks_at_paths_below_the_root_alone(root):
    """No tool of this machine is run for a host that is mounted elsewhere."""
    found = sampled(Host(root=root))
    assert {one.file for one in found.files} == {"sysfs.txt"}
    assert Path("/") == Host().root
