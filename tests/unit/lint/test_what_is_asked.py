"""Which rules are asked, and what is said of those that are not."""

from weft.lint.lint import lint_texts
from weft.lint.text import Text

JOB = Text(name="nccl.env", content="NCCL_IB_SL=1\nNCCL_IB_HCA=mlx5_0\n")
SUBNET = Text(name="opensm.conf", content="qos TRUE\nqos_max_vls 2\nrouting_engine ftree\n")
CLUSTER = """apiVersion: weft/v1
kind: Cluster
metadata: {{name: a}}
spec: {{preset: dgx_h100, fabric: {{kind: {kind}}}}}
"""


def _unchecked(*texts):
    return {one.rule for one in lint_texts(texts).unchecked}


def test_rules_of_ethernet_miss_nothing_on_infiniband():
    assert "nccl_service_level" in _unchecked(JOB)
    assert not {"qos_job_and_host", "qos_job_and_switch"} & _unchecked(JOB, SUBNET)


def _cluster(folder, kind):
    path = folder / "cluster.yaml"
    path.write_text(CLUSTER.format(kind=kind))
    return Text(name="cluster.yaml", content=path.read_text(), origin=str(path))


def test_the_rule_of_service_levels_misses_no_subnet_manager_on_roce(tmp_path):
    missed = _unchecked(JOB, _cluster(tmp_path, "roce"))
    assert "qos_job_and_switch" in missed
    assert "nccl_service_level" not in missed


def test_rules_that_nothing_was_read_for_do_not_count_as_asked():
    alone, both = lint_texts([JOB]), lint_texts([JOB, SUBNET])
    assert alone.rules < both.rules


def test_a_cluster_that_weft_refuses_is_told_with_the_key_and_its_value(tmp_path):
    (found,) = lint_texts([_cluster(tmp_path, "rocee")]).findings
    assert "4:41: fabric.kind: value 'rocee': is not known" in found.message


def test_the_checksums_of_what_weft_rendered_are_no_file_that_nobody_reads():
    manifest = Text(name="out/weft-manifest.json", content='{"nccl/nccl.env": "ab"}')
    assert not lint_texts([JOB, manifest]).unread
