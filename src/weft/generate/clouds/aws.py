"""AWS: EFA through aws-ofi-nccl."""

from weft.generate.cloud import Cloud, Setting

aws = Cloud(
    title="AWS EFA",
    vendor="AWS",
    fabrics=frozenset({"efa"}),
    source="aws_efa",
    settings={
        "FI_EFA_USE_HUGE_PAGE": Setting(
            0,
            "huge pages break fork in data loaders; with libfabric 1.18 and aws-ofi-nccl 1.7 "
            "or newer nothing else is to be set",
        ),
    },
    beside="aws-ofi-nccl has to be on LD_LIBRARY_PATH: it brings its own tuner and topology. "
    "Leave FI_PROVIDER, NCCL_PROTO and NCCL_BUFFSIZE alone: they are advice for old versions",
)
