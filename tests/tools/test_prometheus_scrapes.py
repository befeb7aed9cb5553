"""A real Prometheus scrapes 256 emulated hosts: each fault raises its alert, and no other page.

Time runs SCALE times faster: durations of the rules are divided by SCALE, and so are rates,
which Prometheus takes by its own clock. The rules are changed in nothing else.
"""

import json
import re
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlencode

import pytest
import yaml

from weft.doctor.diagnose import diagnose
from weft.emulate.bundle import emulate, write
from weft.emulate.metrics import Timeline
from weft.generate.alert import all_alerts
from weft.generate.plan import plan
from weft.generate.target import render
from weft.spec.load import load_job, preset

HOSTS = 256
SCALE = 20
EVERY_S = 3
"""Between scrapes, and between evaluations of the rules: one minute of the fabric."""
HEALTHY_S = 300
"""Time of the fabric before the faults begin: the longest window of a rate."""
SLACK_S = 5 * 60
"""Time of the fabric beside the `for` of an alert: the window of a rate, scrape, evaluation."""
UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400}
PAGES = {
    "port-down": "WeftPortDown",
    "port-slow": "WeftPortSlow",
    "pause-storm": "WeftPauseStorm",
    "storm-source": "WeftPauseSent",
    "lossless-drops": "WeftLosslessDrops",
    "gpu-off-the-bus": "WeftGpuOffTheBus",
    "gpu-ecc": "WeftXidMemory",
    "gpu-ecc-uncontained": "WeftXidMemoryUncontained",
    "gpu-gsp": "WeftXidGsp",
    "gpu-nvlink": "WeftXidNvlink",
}
TICKETS = {
    "link-flap": "WeftLinkFlap",
    "packet-loss": "WeftRocePacketLoss",
    "crc-errors": "WeftCrcErrors",
    "receive-overrun": "WeftReceiveOverrun",
    "gpu-hot": "WeftThermalThrottle",
    "gpu-power-brake": "WeftPowerBrake",
}
ALERTS = PAGES | TICKETS
UNPRICED = {"crc-errors"}
"""What a damaged packet costs depends on whether a timeout ends it, which nobody counts."""
FOLLOWS = {"storm-source": "pause-storm", "lossless-drops": "packet-loss"}
"""What a fault brings with it on the same host; its alert is inhibited."""
pytestmark = [
    pytest.mark.tool,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(shutil.which, ("prometheus", "prometheus-alertmanager"))),
        reason="prometheus or prometheus-alertmanager is not installed; run scripts/tools.sh",
    ),
]


JOBS = re.compile(r"(nccl_|weft_job_|vllm:|training_).*")
"""Series of a job: the first host answers with them."""
GROWING = re.compile(r"([0-9.]+)(?:[+]([0-9]+))?x[0-9]+")
"""Values as promtool writes them: the first one, and by how much the next one is larger."""


class Fabric:
    """Answers ``/NUMBER/metrics`` for every host, by a clock that runs SCALE times faster."""

    def __init__(self, made, jobs):
        """Put each fault on a host of its own, 16 hosts apart; ``jobs`` are series by name."""
        self.jobs = jobs
        names = [one.name for one in emulate(made, (), hosts=HOSTS).hosts]
        self.names = names
        self.place = {fault: names[16 * n + 3] for n, fault in enumerate(ALERTS)}
        words = [
            f"{fault}@{name}/{n % 8}" for n, (fault, name) in enumerate(self.place.items())
        ]
        words += [f"{FOLLOWS[fault]}@{self.place[fault]}/0" for fault in FOLLOWS]
        self.timeline = Timeline(
            healthy=emulate(made, (), hosts=HOSTS), faulty=emulate(made, words, hosts=HOSTS),
            at_s=HEALTHY_S,
        )  # fmt: skip
        self.began = time.monotonic()

    def now_s(self):
        return SCALE * (time.monotonic() - self.began)

    def scrape(self, path):
        number = int(path.split("/")[1])
        text = self.timeline.metrics_text(number, self.now_s())
        return text if number else text + self._of_jobs()

    def _of_jobs(self):
        """Return the series of a healthy job."""
        minutes = self.now_s() / 60
        lines = []
        for name, values in self.jobs.items():
            first, more = GROWING.fullmatch(values).groups()
            lines.append(f"{name} {float(first) + minutes * float(more or 0)}\n")
        return "".join(lines)


@contextmanager
def _served(fabric):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            text = fabric.scrape(self.path).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = HOSTS

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def _free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def _started(folder, name, *command):
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait(timeout=20)


def _scaled(rules):
    """Return the rules for a clock that runs SCALE times faster."""
    for group in rules["groups"]:
        group["interval"] = f"{EVERY_S}s"
        for rule in group["rules"]:
            rule["expr"] = re.sub(r"rate\(([^()]*)\)", rf"(rate(\1) / {SCALE})", rule["expr"])
            rule["expr"] = re.sub(r"\[([0-9]+[smhd])\]", _window, rule["expr"])
            if "for" in rule:
                rule["for"] = f"{_seconds(rule['for']) * 1000 // SCALE}ms"
    return rules


def _window(found):
    return f"[{_seconds(found[1]) * 1000 // SCALE}ms]"


def _seconds(text):
    return int(text[:-1]) * UNITS_S[text[-1]]


def _config(fabric, port, alertmanager):
    targets = [{"targets": [f"127.0.0.1:{port}"],
                "labels": {"instance": name, "__metrics_path__": f"/{number}/metrics"}}
               for number, name in enumerate(fabric.names)]  # fmt: skip
    return {
        "global": {"scrape_interval": f"{EVERY_S}s", "scrape_timeout": f"{EVERY_S}s",
                   "evaluation_interval": f"{EVERY_S}s"},
        "rule_files": ["weft.rules.yml"],
        "scrape_configs": [{"job_name": "node", "static_configs": targets}],
        "alerting": {"alertmanagers": [
            {"static_configs": [{"targets": [f"127.0.0.1:{alertmanager}"]}]}]},
    }  # fmt: skip


def _asked(address):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{address}", timeout=10) as answer:
            return json.load(answer)
    except OSError:
        return None


def _until_all_fire(fabric, port, hold_s):
    """Return when alerts first fired, by host, and which fired before the faults."""
    seen, early = {}, set()
    last_s = HEALTHY_S + max(hold_s.values()) + 2 * SLACK_S
    while fabric.now_s() < last_s:
        now_s = fabric.now_s()
        answer = _asked(f"{port}/api/v1/alerts")
        firing = [one["labels"] for one in answer["data"]["alerts"]
                  if one["state"] == "firing"] if answer else []  # fmt: skip
        for one in firing:
            if now_s < HEALTHY_S:
                early.add(one["alertname"])
            seen.setdefault((one["alertname"], one.get("instance")), now_s)
        time.sleep(0.5)
    return seen, early


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """Return the fabric, when alerts fired, which early, Alertmanager's, rules, panels."""
    folder = tmp_path_factory.mktemp("prometheus")
    made = plan(preset("hgx_h100_roce", hosts=HOSTS))
    files = render(made, ["prometheus", "grafana"]).files
    texts = {one.path.rpartition("/")[2]: one.text for one in files}
    original = yaml.safe_load(texts["weft.rules.yml"])
    hold_s = {rule["alert"]: _seconds(rule["for"]) for group in original["groups"]
              for rule in group["rules"] if "alert" in rule}  # fmt: skip
    (folder / "weft.rules.yml").write_text(yaml.safe_dump(_scaled(original), sort_keys=False))
    (folder / "alertmanager.yml").write_text(texts["alertmanager.yml"])
    port, second = _free_port(), _free_port()
    with ExitStack() as stack:
        fabric = Fabric(made, _jobs(texts["weft-1m.test.yml"]))
        served = stack.enter_context(_served(fabric))
        config = _config(fabric, served, second)
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        stack.enter_context(_started(
            folder, "alertmanager", "prometheus-alertmanager", "--config.file=alertmanager.yml",
            "--storage.path=alertmanager", "--cluster.listen-address=",
            f"--web.listen-address=127.0.0.1:{second}"))  # fmt: skip
        stack.enter_context(_started(
            folder, "prometheus", "prometheus", "--config.file=prometheus.yml",
            "--storage.tsdb.path=data", f"--web.listen-address=127.0.0.1:{port}"))  # fmt: skip
        fabric.began = time.monotonic()
        seen, early = _until_all_fire(fabric, port, {a: hold_s[a] for a in ALERTS.values()})
        managed = _asked(f"{second}/api/v2/alerts")
        up = _asked(f"{port}/api/v1/query?query=count(up==1)")
        panels = {title: _asked(f"{port}/api/v1/query?{urlencode({'query': expr})}")
                  for title, expr in _panels(files)}  # fmt: skip
    assert up is not None, (folder / "prometheus.log").read_text()[-2000:]
    assert up["data"]["result"][0]["value"][1] == str(HOSTS)
    return fabric, seen, early, managed, hold_s, panels


def _jobs(text):
    """Return the series of jobs of a healthy fabric, as the tests of the rules have them."""
    healthy = yaml.safe_load(text)["tests"][0]["input_series"]
    return {one["series"]: one["values"] for one in healthy if JOBS.match(one["series"])}


def _panels(files):
    """Yield the title and the query of every panel."""
    for file in files:
        if file.path.startswith("grafana/"):
            for panel in json.loads(file.text)["panels"]:
                yield panel["title"], panel["targets"][0]["expr"]


@pytest.mark.proves(
    "grafana",
    effect="every panel has data of a Prometheus that scrapes 256 emulated hosts",
    tool="prometheus-server",
)
def test_every_panel_of_the_dashboards_has_data(watched):
    panels = watched[5]
    assert len(panels) >= 20
    empty = [title for title, answer in panels.items()
             if not answer or not answer["data"]["result"]]  # fmt: skip
    assert not empty


def test_a_healthy_fabric_raises_nothing(watched):
    assert watched[2] == set()


@pytest.mark.parametrize("fault", ALERTS)
def test_each_fault_raises_its_alert_in_the_stated_time(fault, watched):
    fabric, seen, _, _, hold_s, _ = watched
    name = ALERTS[fault]
    fired_s = seen.get((name, fabric.place[fault]))
    assert fired_s is not None, sorted(seen)
    assert HEALTHY_S <= fired_s <= HEALTHY_S + hold_s[name] + SLACK_S


def test_no_other_page_is_raised(watched):
    fabric, seen, _, managed, _, _ = watched
    wanted = {(name, fabric.place[fault]) for fault, name in PAGES.items()}
    paged = {
        (one["labels"]["alertname"], one["labels"]["instance"])
        for one in managed
        if one["labels"]["severity"] == "page" and one["status"]["state"] == "active"
    }
    assert paged == wanted, sorted(seen)


@pytest.mark.parametrize(("cause", "consequence"), FOLLOWS.items())
def test_the_alert_of_a_consequence_is_raised_and_inhibited(cause, consequence, watched):
    fabric, seen, _, managed, _, _ = watched
    place = fabric.place[cause]
    assert (ALERTS[consequence], place) in seen
    state = {(one["labels"]["alertname"], one["labels"]["instance"]): one["status"]
             for one in managed}  # fmt: skip
    assert state[ALERTS[cause], place]["state"] == "active"
    assert state[ALERTS[consequence], place]["inhibitedBy"]
    assert not state[ALERTS[consequence], fabric.place[consequence]]["inhibitedBy"]


@pytest.mark.parametrize(("fault", "name"), ALERTS.items())
def test_the_doctor_names_and_prices_the_cause_of_the_alert(fault, name, tmp_path):
    cluster = preset("hgx_h100_roce", hosts=HOSTS)
    job = load_job({"model": "llama3_70b", "global_batch": 1024})
    state = emulate(plan(cluster), [fault], seed=1)
    write(state, tmp_path / "bundle", seed=1)
    causes = {one.name: one.cause for one in all_alerts()}
    found = [one for one in diagnose([tmp_path / "bundle"], cluster, job).findings
             if one.cause == causes[name]]  # fmt: skip
    assert found
    assert state.injected[0].host in repr(found[0])
    assert (found[0].price is None) == (fault in UNPRICED)
