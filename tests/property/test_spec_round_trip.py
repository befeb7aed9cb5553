"""load(show(x)) = x for every cluster and job, and no text stops the loader."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.spec.cluster import (
    Cluster,
    FabricChoice,
    Host,
    Nccl,
    Prices,
    Reliability,
    ScaleUp,
    TopologyChoice,
)
from weft.spec.document import read_documents
from weft.spec.kubernetes import Kubernetes
from weft.spec.load import load_cluster, load_documents, load_job, model, models
from weft.spec.show import as_yaml, explained
from weft.spec.workload import Job, Parallelism

names = st.text("abc-_ 0189.:#'\"é", min_size=1, max_size=12)
counts = st.integers(1, 10**6)
rates = st.floats(1e6, 1e13).map(lambda v: f"{v!r}B/s") | st.integers(1, 1600).map(
    lambda v: f"{v}Gb/s"
)
port_rates = st.floats(1e6, 5e10).map(lambda v: f"{v!r}B/s")  # Up to what a ConnectX-7 has.
sizes = st.integers(1, 2**40).map(lambda v: f"{v}B")
times = st.floats(0, 1e7).map(lambda v: f"{v!r}s")
money = st.floats(0, 1e9).map(lambda v: f"{v!r}USD")
ratios = st.floats(0, 1)

scale_ups = st.builds(ScaleUp, gpus=st.just(1), bytes_per_s=rates, kind=st.just("xgmi"))
hosts = st.builds(
    Host, gpu=st.just("h100_sxm"), gpus=counts, nic=st.just("connectx7"),
    nics=st.integers(0, 64), nic_bytes_per_s=port_rates, pcie_bytes_per_s=st.none() | rates,
    scale_up=scale_ups,
)  # fmt: skip


def fabric(kind, *mtu):
    return st.builds(
        FabricChoice, kind=st.just(kind), mtu_bytes=st.none() | st.sampled_from(mtu),
        sockets=st.none() | counts, link_bytes_per_s=st.none() | port_rates,
        load_ratio=st.floats(0, 0.99),
    )  # fmt: skip


fabrics = fabric("roce", "1024B", "4096B") | fabric("tcp", "1500B", "9000B")
topologies = st.builds(
    TopologyChoice, oversubscription=st.floats(1, 100), hosts_per_pod=st.none() | counts,
    cable_m=st.floats(0.1, 100),
)  # fmt: skip
asked_of_kubernetes = st.builds(
    Kubernetes, mode=st.none() | st.sampled_from(["host_device", "dranet"]), script=names,
    pods_per_host=counts, interfaces=st.lists(names, max_size=3).map(tuple),
)  # fmt: skip
clusters = st.builds(
    Cluster, name=names, hosts=counts, host=hosts, fabric=fabrics, topology=topologies,
    storage_fabric=st.none() | fabrics, kubernetes=st.none() | asked_of_kubernetes,
    nccl=st.builds(Nccl, env=st.dictionaries(st.text("ABC_", min_size=1), names, max_size=3)),
    prices=st.builds(Prices, switch_usd=st.none() | money, support_ratio_per_year=ratios),
    reliability=st.builds(Reliability, restart_s=st.none() | times),
)  # fmt: skip
jobs = st.builds(
    Job, name=names, model=st.sampled_from(models()).map(model), global_batch=counts,
    parallelism=st.just("auto") | st.builds(Parallelism, sharding=st.just("zero3")),
    gradient_bytes=st.none() | st.floats(0.1, 8), tokens=st.none() | st.floats(1, 1e14),
)  # fmt: skip

calm = settings(
    deadline=None, max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip


@calm
@given(cluster=clusters)
def test_a_cluster_shown_and_loaded_is_the_cluster(tmp_path, cluster):
    path = tmp_path / "cluster.yaml"
    for text in (as_yaml(cluster), explained(cluster)):
        path.write_text(text, encoding="utf-8")
        assert load_cluster(path) == cluster


@calm
@given(job=jobs)
def test_a_job_shown_and_loaded_is_the_job(tmp_path, job):
    path = tmp_path / "job.yaml"
    path.write_text(as_yaml(job), encoding="utf-8")
    assert load_job(path) == job


@settings(deadline=None, max_examples=200)
@given(text=st.text(max_size=60) | st.text("{}[]&*a:<-\n ,!|>'\"", max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        read_documents(text, "text")
    except WeftError as error:
        assert str(error)  # noqa: PT017 - most texts are refused, and none may crash


@calm
@given(
    text=st.recursive(
        st.none() | st.booleans() | st.floats() | st.text("ab: 1", max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["kind", "spec", "preset", "host", "hosts"]), inner
            )
        ),
        max_leaves=8,
    ).map(repr)
)
def test_any_document_is_loaded_or_refused(tmp_path, text):
    path = tmp_path / "any.yaml"
    path.write_text(f"apiVersion: weft/v1\nkind: Cluster\nspec: {text}\n", encoding="utf-8")
    try:
        load_documents(path)
    except WeftError as error:
        assert str(error)  # noqa: PT017 - as above
