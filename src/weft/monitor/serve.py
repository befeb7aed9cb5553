"""Samples on a schedule, and their series for Prometheus: over HTTP or in a file."""

import hmac
import os
import ssl
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import CollectorRegistry, generate_latest, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from weft.doctor.diagnose import diagnose
from weft.errors import SpecError, Unreadable
from weft.generate.expected_busbw import points
from weft.generate.plan import plan
from weft.inventory.inventory import Inventory
from weft.monitor.sample import Host, sampled
from weft.monitor.series import LONGEST_LABEL, Series, labels, series
from weft.spec.cluster import Cluster
from weft.units import parse_rate

_PRESENCE: Final = frozenset({"port", "interface", "gpu"})
"""Kinds of which one that vanishes is a series of 0, not a gap."""
MOST_SEEN: Final = 4096


@dataclass(slots=True, eq=False)
class Monitor:
    """The newest sample of a host as metrics; a scrape never waits for the host."""

    host: Host
    cluster: Cluster | None = None
    seen: dict[tuple[str, tuple[tuple[str, str], ...]], None] = field(default_factory=dict)
    newest: tuple[Series, ...] = ()
    own: tuple[Series, ...] = ()

    def __post_init__(self) -> None:
        """Work out once what the cluster should show."""
        if self.cluster is not None:
            self.own = tuple(expected(self.cluster))

    def look(self) -> None:
        """Take one sample; a failure is a metric, and the series of before are dropped."""
        began = time.monotonic()
        try:
            inventory = sampled(self.host)
            found = [*series(inventory), *self._present(inventory)]
            found += findings(inventory, self.cluster)
            ok = 1.0
        except Exception:  # noqa: BLE001 - a host in any state must not end the monitor
            found, ok = [], 0.0
        about = "whether the last look at the host succeeded"
        found.append(Series("weft_monitor_up", about, "gauge", (), ok))
        about = "how long the last look at the host took"
        took = time.monotonic() - began
        found.append(Series("weft_monitor_sample_seconds", about, "gauge", (), took))
        self.newest = (*found, *self.own)

    def _present(self, inventory: Inventory) -> Iterable[Series]:
        now = {
            (reading.kind, labels(reading)): None
            for reading in inventory.readings
            if reading.kind in _PRESENCE
        }
        for pair in now:
            if len(self.seen) < MOST_SEEN:
                self.seen[pair] = None
        about = "whether something that was seen since the start is there now"
        for kind, own in self.seen:
            there = float((kind, own) in now)
            yield Series("weft_present", about, "gauge", (("kind", kind), *own), there)

    def collect(self) -> Iterable[Metric]:
        """Return the newest sample as families of prometheus_client."""
        families: dict[tuple[str, tuple[str, ...]], Any] = {}
        for item in self.newest:
            names = tuple(name for name, _ in item.labels)
            made = families.get((item.name, names))
            if made is None:
                form = CounterMetricFamily if item.type == "counter" else GaugeMetricFamily
                made = form(item.name.removesuffix("_total"), item.about, labels=names)
                families[item.name, names] = made
            made.add_metric([said for _, said in item.labels], item.value)
        return _by_name(families.values())


def _by_name(families: Iterable[Metric]) -> list[Metric]:
    """Join families of one name whose labels differ: a name may stand once."""
    joined: dict[str, Metric] = {}
    for family in families:
        known = joined.setdefault(family.name, family)
        if known is not family:
            known.samples.extend(family.samples)
    return list(joined.values())


def registry(monitor: Monitor) -> CollectorRegistry:
    """Return a registry with the monitor alone."""
    made = CollectorRegistry(auto_describe=False)
    made.register(monitor)
    return made


def watch(monitor: Monitor, period_s: float, ended: threading.Event) -> None:
    """Look at the host every so often until told to end."""
    while not ended.wait(period_s):
        monitor.look()


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """How the endpoint is protected, as the web configuration of Prometheus' exporters says."""

    certificate: Path | None = None
    key: Path | None = None
    users: Mapping[str, str] = field(default_factory=dict)
    """Name, and bcrypt hash of the password."""


def web_config(file: Path) -> Web:
    """Read a web configuration file: tls_server_config and basic_auth_users.

    Raises SpecError where it has another key, or no certificate for its key.
    """
    import yaml  # noqa: PLC0415 - only where a file is given

    from weft.readers.untrusted import read_bytes, yaml_documents  # noqa: PLC0415 - as above

    text = read_bytes(file, _LARGEST_CONFIG).decode("utf-8", errors="replace")
    yaml_documents(text)  # refuses what is too deep or no YAML
    document = yaml.safe_load(text)
    if not isinstance(document, dict):
        raise SpecError(f"{file}: is no mapping; it holds {' and '.join(_WEB_KEYS)}")
    if unknown := sorted(set(document) - set(_WEB_KEYS)):
        raise SpecError(
            f"{file}: {unknown[0]!r} is not read; there are: {', '.join(_WEB_KEYS)}"
        )
    tls = document.get("tls_server_config") or {}
    if bool(tls.get("cert_file")) != bool(tls.get("key_file")):
        raise SpecError(f"{file}: tls_server_config needs cert_file and key_file")
    return Web(
        certificate=Path(tls["cert_file"]) if tls else None,
        key=Path(tls["key_file"]) if tls else None,
        users={str(k): str(v) for k, v in (document.get("basic_auth_users") or {}).items()},
    )


_LARGEST_CONFIG: Final = 1 << 20
_WEB_KEYS: Final = ("tls_server_config", "basic_auth_users")


def write(monitor: Monitor, file: Path) -> None:
    """Write the newest sample for a textfile collector: whole or not at all."""
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        beside.write_bytes(generate_latest(registry(monitor)))
        beside.replace(file)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise Unreadable(f"{file}: cannot be written: {error.strerror}") from error


Wsgi = Callable[[Mapping[str, Any], Callable[..., Any]], Iterable[bytes]]


def guarded(app: Wsgi, users: Mapping[str, str]) -> Wsgi:
    """Ask for a name and password before an application answers."""
    if not users:
        return app
    import bcrypt  # noqa: PLC0415 - only where a password is asked for

    accepted: dict[str, bytes] = {}

    def known(header: str) -> bool:
        """Compare with the hash once a password; after that with what was accepted."""
        try:
            name, _, password = b64decode(header.removeprefix("Basic ")).partition(b":")
            hashed = users.get(name.decode("utf-8"))
        except ValueError:
            return False
        if hashed is None:
            return False
        before = accepted.get(hashed)
        if before is not None and hmac.compare_digest(before, password):
            return True
        right = bcrypt.checkpw(password[:72], hashed.encode())
        if right:
            accepted[hashed] = password
        return right

    def asked(environ: Mapping[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if known(environ.get("HTTP_AUTHORIZATION", "")):
            return app(environ, start)
        start("401 Unauthorized", [("WWW-Authenticate", 'Basic realm="weft"')])
        return [b"a name and password are needed\n"]

    return asked


class _Quiet(WSGIRequestHandler):
    timeout = 10
    """Seconds that a client may be silent."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its signature
        """Write nothing for a scrape."""


def serve(monitor: Monitor, address: str, port: int, web: Web, period_s: float) -> None:
    """Answer scrapes until interrupted.

    Raises OSError where the address is taken.
    """
    monitor.look()
    app = guarded(make_wsgi_app(registry(monitor)), web.users)
    with make_server(address, port, app, handler_class=_Quiet) as server:
        if web.certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(web.certificate, web.key)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        ended = threading.Event()
        arguments = (monitor, period_s, ended)
        threading.Thread(target=watch, args=arguments, daemon=True).start()
        try:
            server.serve_forever()
        finally:
            ended.set()


BUSBW = "weft_expected_collective_busbw_bytes_per_second"
LINK = "weft_expected_port_rate_bytes_per_second"
FINDING = "weft_finding_probability_ratio"


def expected(cluster: Cluster) -> Iterator[Series]:
    """Yield what the model and the plan say of a cluster: at most some 300 series.

    Bus bandwidth is that of ``weft expect`` at large sizes, with both ends of its band.
    """
    made = plan(cluster)
    rate = parse_rate(f"{made.link.rate_gbit_per_s.number()}Gb/s")
    for device in made.names.device_list():
        own = (("device", device), ("port", "1"))
        yield Series(LINK, "rate of a port, as planned", "gauge", own, rate)
    about = "bus bandwidth by weft expect; bound is the value or an end of its 80 % band"
    for point in points(made):
        for bound in ("value", "low", "high"):
            named = (*point.labels.items(), ("bound", bound))
            yield Series(BUSBW, about, "gauge", named, getattr(point.busbw_bytes_per_s, bound))


def findings(inventory: Inventory, cluster: Cluster | None) -> Iterator[Series]:
    """Yield the findings of the doctor: one series a cause, 0 where nothing is found."""
    about = "how probable a cause is, as weft diagnose says it"
    found: dict[tuple[str, str], float] = {}
    for finding in diagnose(inventory, cluster).findings:
        key = (finding.cause[:LONGEST_LABEL], str(finding.severity))
        found[key] = max(found.get(key, 0.0), finding.probability_ratio)
    for (cause, severity), probability in found.items():
        own = (("cause", cause), ("severity", severity))
        yield Series(FINDING, about, "gauge", own, probability)
