"""What the monitor costs: a look at a host of eight NICs, a scrape, and memory over scrapes.

python benchmarks/monitor.py                     # 10,000 scrapes
python benchmarks/monitor.py --scrapes 1000 --json
"""

import argparse
import json
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from prometheus_client import generate_latest

from weft.monitor.sample import Host
from weft.monitor.serve import Monitor, registry
from weft.spec.load import preset

COUNTERS = [
    "symbol_error",
    "link_downed",
    "link_error_recovery",
    "port_rcv_errors",
    "port_rcv_data",
    "port_xmit_data",
    "port_rcv_packets",
    "port_xmit_packets",
    "port_xmit_wait",
    "port_xmit_discards",
    "VL15_dropped",
    "port_rcv_remote_physical_errors",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
]
HARDWARE = [
    "np_cnp_sent",
    "np_ecn_marked_roce_packets",
    "rp_cnp_handled",
    "rp_cnp_ignored",
    "out_of_sequence",
    "packet_seq_err",
    "local_ack_timeout_err",
    "rnr_nak_retry_err",
    "duplicate_request",
    "out_of_buffer",
    "implied_nak_seq_err",
    "rx_read_requests",
    "rx_write_requests",
    "rx_icrc_encapsulated",
    "lifespan",
    "roce_adp_retrans",
    "roce_adp_retrans_to",
    "roce_slow_restart",
    "req_cqe_error",
    "resp_cqe_error",
]


def host(root: Path, adapters: int) -> Host:
    """Write the files of a host; every counter stands at 17."""
    for number in range(adapters):
        port = root / f"sys/class/infiniband/mlx5_{number}/ports/1"
        for folder, names in (("counters", COUNTERS), ("hw_counters", HARDWARE)):
            (port / folder).mkdir(parents=True)
            for name in names:
                (port / folder / name).write_text("17\n")
    return Host(root=root)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scrapes", type=int, default=10_000)
    parser.add_argument("--looks", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        monitor = Monitor(host(Path(folder), 8), preset("dgx_h100", hosts=16))
        looks = []
        for _ in range(given.looks):
            began = time.process_time()
            monitor.look()
            looks.append(time.process_time() - began)
        made = registry(monitor)
        size = len(generate_latest(made))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        scrapes = []
        for _ in range(given.scrapes):
            began = time.process_time()
            generate_latest(made)
            scrapes.append(time.process_time() - began)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = {
        "look_ms": 1e3 * statistics.median(looks),
        "scrape_ms": 1e3 * statistics.median(scrapes),
        "scrape_bytes": size,
        "scrapes": given.scrapes,
        "memory_growth_kib": after - before,
    }
    lines = [f"{name:20} {value:,.6g}" for name, value in found.items()]
    print(json.dumps(found) if given.json else "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
