"""Kubernetes: a mode that fits, said why; names that nobody can break out of."""

import re
from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from weft.catalogue import all_of
from weft.errors import Infeasible, SpecError
from weft.generate.host import VIRTUAL, rented_from
from weft.generate.kubernetes import UNSET
from weft.generate.manifest import text
from weft.generate.mode import Case, by_rank
from weft.generate.plan import plan
from weft.generate.rails import rail_links
from weft.generate.target import reason_against, render, suitable
from weft.generate.targets.kubernetes_jobs import all_jobs
from weft.network import network as resolver
from weft.spec.kubernetes import Kubernetes
from weft.spec.load import load_cluster, preset, presets

ROCE, INFINIBAND = preset("hgx_h100_roce", hosts=4), preset("dgx_h100", hosts=4)
TARGETS = ["kubernetes", "kubernetes_jobs"]
PCI = tuple(f"0000:{number:02x}:00.0" for number in range(8))


def _asking(cluster, **wishes):
    return cluster.with_(kubernetes=Kubernetes(**wishes))


def _texts(cluster, *names):
    return {file.path: file.text for file in render(plan(cluster), names).files}


TEXTS = st.text(max_size=20) | st.text("ab01 #:-\n'\"{}[]&*!|>%@`~,.<=\\_", max_size=20)
VALUES = st.booleans() | st.integers() | TEXTS
NESTED = VALUES | st.lists(VALUES, max_size=3) | st.dictionaries(TEXTS, VALUES, max_size=3)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    value=st.dictionaries(TEXTS, NESTED | st.lists(NESTED, max_size=3), min_size=1, max_size=4)
)
@example(value={"a": "off", "b": "1_000", "c": "12:30", "d": "0x1f", "e": "~", "f": "no"})
@example(value={"<<": "=", "a": "x\n  y\n\nz\n", "b": ["#", "- c", [["d"]], {}], "e": "\n"})
@example(value={"a": "\x85\u2028\ufeff😀\x7f\t", "b": " lead", "c": "trail ", "d": "a\n\n"})
@pytest.mark.parametrize("version", [(1, 1), (1, 2)])
def test_both_versions_of_yaml_read_what_was_written(version, value):
    """read(write(x)) = x, in the YAML of Kubernetes and in the newer one."""
    reader = YAML(typ="safe", pure=True)
    reader.version = version
    assert reader.load(text([value], ["head"])) == value


def test_a_manifest_is_written_as_people_write_it():
    made = text([{"kind": "Pod", "args": ["-c", "set -e\necho ok\n"], "on": "off"}], ["why"])
    assert made.splitlines() == [
        "# why", "---", "kind: Pod", "args:", '- "-c"', "- |", "  set -e", "  echo ok",
        '"on": "off"',
    ]  # fmt: skip


FABRICS = {
    "hgx_h100_roce": "host_device", "dgx_h100": "host_device", "mi300x_roce": "multus",
    "aws_p5": "efa", "gcp_a4": "dranet", "azure_nd_h100_v5": "host_device",
    "h100_tcp_100g": "host_network",
}  # fmt: skip


@pytest.mark.parametrize(("name", "mode"), FABRICS.items())
def test_the_mode_follows_from_the_cluster_and_says_why(name, mode):
    part = plan(preset(name)).kubernetes
    assert part.mode.value == mode
    assert part.mode.reason
    others = {other for other, _ in by_rank()} - {mode}
    assert part.modes.keys() == others
    assert all(one.reason for one in part.modes.values())


@pytest.mark.parametrize("name", presets())
def test_a_mode_that_fits_can_be_asked_for_and_another_is_refused(name):
    part = plan(preset(name)).kubernetes
    for mode, one in ({} if part is None else part.modes).items():
        cluster = _asking(preset(name), mode=mode)
        if one.value == "fits":
            assert plan(cluster).kubernetes.mode.value == mode
        else:
            with pytest.raises(SpecError, match=r"Modes for this cluster: "):
                plan(cluster)


def test_the_first_that_fits_is_the_one_of_the_lowest_rank():
    for name in presets():
        cluster = preset(name)
        vendor = all_of("nics")[cluster.host.nic].vendor
        case = Case(
            fabric=cluster.fabric.kind, nic_vendor=vendor, gpus_per_host=cluster.host.gpus,
            pods_per_host=1, virtual=rented_from(cluster) in VIRTUAL,
            rented=rented_from(cluster) is not None,
        )  # fmt: skip
        fitting = [mode for mode, kind in by_rank() if kind.against(case) is None]
        part = plan(cluster).kubernetes
        assert (fitting[0] if fitting else None) == (part and part.mode.value)


def test_pods_that_share_a_host_get_functions_of_their_own():
    part = plan(_asking(INFINIBAND, pods_per_host=4)).kubernetes
    assert part.mode.value == "sriov_infiniband"
    assert part.virtual_functions.value == 4
    assert part.gpus_per_pod.value * 4 == INFINIBAND.host.gpus
    assert part.pods.value == 4 * INFINIBAND.hosts


def test_pods_cannot_share_a_host_where_a_nic_has_one_address():
    cluster = _asking(ROCE, pods_per_host=2)
    assert plan(cluster).kubernetes is None
    for target in TARGETS:
        assert "sriov_ethernet: every pod needs an address" in reason_against(
            target, plan(cluster)
        )


def test_a_rack_is_no_host_of_kubernetes():
    said = reason_against("kubernetes", plan(preset("gb200_nvl72")))
    assert "a rack of 72 GPUs" in said


def test_a_share_of_a_host_must_be_whole_gpus():
    with pytest.raises(SpecError, match=r"must divide host\.gpus \(8\)"):
        plan(_asking(INFINIBAND, pods_per_host=3))


def test_functions_have_no_names_that_nccl_could_be_told():
    made = plan(_asking(ROCE, mode="sriov_ethernet"))
    assert made.kubernetes.settings["NCCL_IB_HCA"].value == UNSET
    environment = made.kubernetes.environment(made.nccl)
    assert "NCCL_IB_HCA" not in environment
    assert environment["NCCL_IB_TC"].value == made.labels.traffic_class.value
    jobs = _texts(made.cluster, "kubernetes_jobs")
    assert not any(re.search(r"^ .*NCCL_IB_HCA", one, re.MULTILINE) for one in jobs.values())
    assert "/sys/class/net/net*" in jobs["kubernetes_jobs/perftest.yaml"]


def test_pods_have_the_variables_of_the_plan_and_their_own_interface():
    for cluster in (ROCE, INFINIBAND):
        made = plan(cluster)
        for path, one in _texts(cluster, "kubernetes_jobs").items():
            if "perftest" in path:
                continue
            for name, value in made.nccl.settings.items():
                assert re.search(rf'name: {name}\n +value: "?{value.text()}"?\n', one), path
            assert re.search(r"name: NCCL_SOCKET_IFNAME\n +value: eth0\n", one), path


def test_mpirun_forwards_every_variable_of_nccl():
    """A process that ssh starts has none of its container's variables."""
    for cluster in (ROCE, INFINIBAND, preset("aws_p5", hosts=2)):
        made = plan(cluster)
        for name in ("nccl-tests", "train-mpijob"):
            one = _texts(cluster, "kubernetes_jobs")[f"kubernetes_jobs/{name}.yaml"]
            forwarded = set(re.findall(r"-x (\S+)", one))
            assert made.kubernetes.environment(made.nccl).keys() <= forwarded


def test_pods_with_rdma_may_lock_memory_and_have_shared_memory():
    for path, one in _texts(ROCE, "kubernetes_jobs").items():
        assert "- IPC_LOCK" in one, path
        assert "mountPath: /dev/shm" in one, path
        assert "medium: Memory" in one, path


def test_on_the_hosts_network_sshd_has_a_port_of_its_own():
    tcp = preset("h100_tcp_100g", hosts=2)
    one = _texts(tcp, "kubernetes_jobs")["kubernetes_jobs/nccl-tests.yaml"]
    assert "sshd -De -p 2222" in one
    assert '--mca plm_rsh_args "-p 2222' in one
    assert one.count("hostNetwork: true") == 2
    assert "kubernetes_jobs/perftest.yaml" not in _texts(tcp, "kubernetes_jobs")


def test_on_the_hosts_network_nccl_keeps_off_what_container_networks_make():
    tcp = preset("h100_tcp_100g", hosts=2)
    assert plan(tcp).kubernetes.settings["NCCL_SOCKET_IFNAME"].text().startswith("^lo,docker")
    own = plan(_asking(tcp, interfaces=("ens1f0", "ens2f0")[: tcp.host.nics]))
    assert own.kubernetes.settings["NCCL_SOCKET_IFNAME"].text().startswith("=ens1f0")


def test_interfaces_of_the_user_reach_every_object():
    own = tuple(f"ens{number}np0" for number in range(8))
    for mode in ("host_device", "sriov_ethernet", "macvlan_shared", "dranet"):
        texts = _texts(_asking(ROCE, mode=mode, interfaces=own), "kubernetes")
        joined = "".join(texts.values())
        assert all(one in joined for one in own), mode
        assert "eth_r" not in joined


def test_pci_addresses_let_the_operator_name_and_tune_the_nics():
    made = plan(_asking(ROCE, pci_addresses=PCI))
    tuned = _texts(made.cluster, "kubernetes")["kubernetes/20-nic-configuration.yaml"]
    labels = made.labels
    assert f"tos: {labels.traffic_class.text()}\n" in tuned
    assert 'pfc: "0,0,0,1,0,0,0,0"' in tuned
    assert f'name: CNP_DSCP_P1\n      value: "{labels.cnp_dscp.text()}"' in tuned
    assert "netDevicePrefix" in tuned
    named = _asking(ROCE, pci_addresses=PCI, interfaces=tuple(f"rail{n}" for n in range(8)))
    kept = _texts(named, "kubernetes")["kubernetes/20-nic-configuration.yaml"]
    assert "NicInterfaceNameTemplate" not in kept
    assert "kubernetes/20-nic-configuration.yaml" not in _texts(ROCE, "kubernetes")


def test_nothing_of_infiniband_has_labels_of_ip():
    texts = _texts(_asking(INFINIBAND, pci_addresses=PCI), "kubernetes")
    assert "roceOptimized" not in texts["kubernetes/20-nic-configuration.yaml"]
    assert "linkType: Infiniband" in texts["kubernetes/20-nic-configuration.yaml"]


def test_neighbours_have_one_label_and_slurm_says_the_same():
    cluster = preset("dgx_h100", hosts=96)
    texts = _texts(cluster, "kubernetes", "slurm")
    labels = re.findall(r"node (host-\d+) .*leaf=(\S+) ", texts["kubernetes/label-nodes"])
    assert len(labels) == 96
    units = dict(labels)
    size = resolver.layout(cluster).hosts_per_unit
    assert len(set(units.values())) == len(
        re.findall(r"^SwitchName=unit", texts["slurm/topology.conf"], re.MULTILINE)
    )
    for number in (0, size - 1, size, 95):
        assert units[f"host-{number:04d}"] == f"unit{number // size:04d}"


HOSTILE = [
    "a\nb", "$(reboot)", "`id`", 'a"b', "a;b", "", "a\x00", "a\u2028b", "a'b", "a|b", "ä",
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("key", ["namespace", "image", "tools_image", "ray_image", "script"])
def test_a_hostile_value_is_refused(key, value):
    with pytest.raises(SpecError, match=rf"kubernetes\.{key}"):
        plan(_asking(ROCE, **{key: value}))


@pytest.mark.parametrize("value", [*HOSTILE, "a b", "x" * 16, "1a"])
@pytest.mark.parametrize("key", ["interfaces", "pci_addresses"])
def test_a_hostile_name_of_a_nic_is_refused(key, value):
    with pytest.raises(SpecError, match=rf"kubernetes\.{key}"):
        plan(_asking(ROCE, **{key: (*PCI[:7], value)}))


@pytest.mark.parametrize("value", ["Training", "a.b", "-a", "a" * 64, "a_b"])
def test_a_namespace_is_a_name_of_rfc_1123(value):
    with pytest.raises(SpecError, match=r"kubernetes\.namespace"):
        plan(_asking(ROCE, namespace=value))


@pytest.mark.parametrize(("key", "value"), [
    ("interfaces", ("a", "b")), ("pci_addresses", PCI[:3]),
    ("interfaces", ("a",) * 8), ("pci_addresses", PCI[:1] * 8),
])  # fmt: skip
def test_each_nic_is_named_once(key, value):
    with pytest.raises(SpecError, match=rf"kubernetes\.{key}"):
        plan(_asking(ROCE, **{key: value}))


@given(name=st.from_regex(r"[A-Za-z0-9._-]{1,63}", fullmatch=True))
def test_the_name_of_any_cluster_is_a_label_of_kubernetes(name):
    try:
        made = plan(INFINIBAND.with_(name=name))
    except SpecError:
        return
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", made.names.label.text())


def test_more_pods_than_addresses_are_infeasible():
    with pytest.raises(Infeasible, match="do not fit"):
        plan(_asking(preset("dgx_h100", hosts=8192), pods_per_host=8))


def test_l8k_gets_what_it_knows_and_refuses_what_it_cannot_express():
    cluster = _asking(INFINIBAND, pci_addresses=PCI, namespace="training")
    made = YAML(typ="safe").load(_texts(cluster, "l8k")["l8k/cluster-config.yaml"])
    assert made["profile"] == {
        "fabric": "infiniband", "deployment": "host_device", "multirail": True,
    }  # fmt: skip
    (group,) = made["clusterConfig"]
    assert [one["pciAddress"] for one in group["pfs"]] == list(PCI)
    assert [one["rail"] for one in group["pfs"]] == list(range(8))
    assert {one["deviceID"] for one in group["pfs"]} == {"1021"}
    assert made["networkNamespaces"] == ["training"]
    assert "one flat subnet" in reason_against("l8k", plan(ROCE)) or (
        "is for an InfiniBand subnet" in reason_against("l8k", plan(ROCE))
    )


def test_gpus_of_amd_need_images_of_their_own():
    amd = preset("mi300x_roce", hosts=2)
    assert "kubernetes.image is an image for NVIDIA" in reason_against(
        "kubernetes_jobs", plan(amd)
    )
    own = _asking(amd, image="a/b:1", tools_image="a/c:1", ray_image="a/d:1")
    assert "amd.com/gpu: 8" in _texts(own, "kubernetes_jobs")["kubernetes_jobs/nccl-tests.yaml"]


def test_each_kind_of_job_is_a_file_of_its_own():
    files = [job.file for job in all_jobs().values()]
    assert len(set(files)) == len(files) >= 8


def test_a_document_says_what_kubernetes_is_asked_for(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text(
        "apiVersion: weft/v1\nkind: Cluster\nspec:\n  preset: dgx_h100\n"
        "  kubernetes: {mode: ipoib_shared, interfaces: [" + ", ".join(
            f"ibp{number}s0" for number in range(8)) + "]}\n"
    )  # fmt: skip
    cluster = load_cluster(path)
    assert plan(cluster).kubernetes.interface_list()[3] == "ibp3s0"
    path.write_text(path.read_text().replace("ipoib_shared", "ipoib"))
    with pytest.raises(SpecError, match=r"kubernetes\.mode.*ipoib_shared"):
        load_cluster(path)


def test_every_cluster_can_have_what_suits_it():
    for name in presets():
        made = plan(preset(name, hosts=2))
        assert ("kubernetes" in suitable(made)) == (made.kubernetes is not None), name


@pytest.mark.parametrize("hosts", [2, 63, 256])
def test_the_pool_of_a_rail_is_its_own_prefix(hosts):
    """It holds every static address of its rail, and overlaps with no other rail's."""
    shown = _texts(ROCE.with_(hosts=hosts), "kubernetes")["kubernetes/30-address-pools.yaml"]
    specs = [one["spec"] for one in YAML(typ="safe").load_all(shown)]
    pools = [IPv4Network(one["cidr"]) for one in specs]
    for pool, spec in zip(pools, specs, strict=True):
        for one in spec["staticAllocations"]:
            assert IPv4Network(one["prefix"]).subnet_of(pool)
    leaves = {}
    for link in rail_links(plan(ROCE.with_(hosts=hosts))):
        leaves.setdefault(link.rail, set()).add(link.leaf)
    for first, second in combinations(range(len(pools)), 2):
        apart = not leaves[first] & leaves[second]
        assert not apart or not pools[first].overlaps(pools[second])
