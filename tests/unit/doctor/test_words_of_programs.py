"""The same cause in the words of many programs, and words that are no cause at all."""

import pytest

from weft.doctor.diagnose import diagnose
from weft.doctor.ranking import Verdict
from weft.doctor.rule import Severity
from weft.observe.observation import Observation
from weft.observe.reading import read_text

NAMED = {
    "memory not registered by a store": (
        "memlock-limit",
        (
            "E0302 10:00:01.000000 551 context.cpp:90] Failed to register memory "
            "0x7f0000000000: "
            "Cannot allocate memory [12]\n"
        ),
    ),
    "locked memory in MPI's words": (
        "memlock-limit",
        (
            "The OpenFabrics (openib) BTL failed to initialize while trying to\n"
            "allocate some locked memory.\n  Local host:    n3\n  Memlock limit: 65536\n"
        ),
    ),
    "GPU memory refused as a bad address": (
        "gdr-peermem-not-loaded",
        "n1:1:9 [0] NCCL WARN Call to ibv_reg_mr failed with error Bad address\n",
    ),
    "a provider that does not fit the kernel": (
        "container-no-verbs-library",
        (
            "libibverbs: Warning: Driver bnxt_re does not support the kernel ABI of 7 "
            "(supports 1 to 1) for device /sys/class/infiniband/bnxt_re0\nNo IB devices found\n"
        ),
    ),
    "a node of the adapter that is not there": (
        "container-no-rdma-device",
        (
            "libibverbs: Warning: couldn't stat '/dev/infiniband/uverbs0'.\n"
            "n1:1:9 [0] NCCL INFO NET/IB : No device found.\n"
            "n1:1:9 [0] NCCL INFO Using network Socket\n"
        ),
    ),
    "a denial that strace shows": (
        "container-rdma-permission",
        (
            'openat(AT_FDCWD, "/dev/infiniband/uverbs2", O_RDWR|O_CLOEXEC) = -1 '
            "EPERM (Operation "
            "not permitted)\nn1:1:9 [0] NCCL WARN NET/IB : Unable to open device mlx5_2\n"
        ),
    ),
    "part of the nodes, in a pod that was granted the resource": (
        "k8s-rdma-resource-partial",
        (
            "Limits:\n      rdma/hca_a:  1\n$ ls /dev/infiniband\nrdma_cm  umad0\n"
            "$ ibv_devinfo\nNo IB devices found\n"
        ),
    ),
    "GPUDirect on one of two hosts": (
        "gdr-peermem-not-loaded",
        (
            "a1:7:9 [0] NCCL INFO Channel 00 : 0[7000] -> 8[7000] [send] via NET/IB/1/GDRDMA\n"
            "b2:8:9 [0] NCCL INFO Channel 00 : 0[7000] -> 8[7000] [receive] via NET/IB/1\n"
        ),
    ),
    "a fabric plug-in with TCP alone": (
        "efa-provider-missing",
        (
            "c1:1:9 [0] NCCL INFO NET/OFI Selected Provider is tcp;ofi_rxm (found 2 nics)\n"
            "c1:1:9 [0] NCCL INFO comm 0x1 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0\n"
        ),
    ),
    "a GPU off the bus without a code": (
        "gpu-xid-off-the-bus",
        (
            "[ 9.1] NVRM: The NVIDIA GPU 0000:a1:00.0\n"
            "               NVRM: fallen off the bus and is not responding to commands.\n"
        ),
    ),
    "heat in the words of a health watch": (
        "gpu-thermal-throttle",
        (
            "ERROR [77:78] [[Health]] Detected a WARNING in health system Thermal: "
            "'Detected clocks event due to thermal violation in GPU 5.'\n"
        ),
    ),
    "multicast that cannot be bound": (
        "fabric-manager-restarted",
        (
            "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 4194304 : "
            "CUDA error 401 "
            "'the operation cannot be performed in the present state'.\n"
        ),
    ),
    "an event known by its number": (
        "gid-index-wrong",
        "n3:5:6 [0] NCCL WARN NET/IB : mlx5_1:1 unknown event type (18)\n",
    ),
    "peer traffic refused by the I/O memory unit": (
        "pcie-acs-enabled",
        (
            "[ 90.1] nvidia 0000:41:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0021 "
            "address=0xe1000000 flags=0x0030]\n"
        ),
    ),
    "shared memory in the words of a data loader": (
        "shm-too-small",
        (
            "ERROR: Unexpected bus error encountered in worker. This might be caused by "
            "insufficient shared memory (shm).\n"
        ),
    ),
    "a checkpoint that could not be written": (
        "app-storage-stall",
        (
            "RuntimeError: PytorchStreamWriter failed writing file data/9: file write failed\n"
            "[rank0]:[E1 12:10:00.1 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog "
            "caught collective "
            "operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, "
            "Timeout(ms)=600000) ran for 600100 milliseconds before timing out.\n"
        ),
    ),
    "a storm in a switch's log": (
        "pfc-storm",
        (
            "WARNING swss#orchagent: PFC Watchdog detected PFC storm on port Ethernet8, queue "
            "index 4\n"
        ),
    ),
    "the MPI library's own transport": (
        "mpi-ucx-not-nccl",
        (
            "[1719922011.2] [g02:5120 :0] ib_device.c:1332 UCX  ERROR ibv_create_ah(dlid=49152 "
            "sl=0 port=1) for RC DEVX QP connect on mlx5_2 failed: Connection timed out\n"
            "[g02:05120] *** An error occurred in MPI_Bcast\n"
            "[g02:05120] pml_ucx.c:424  Error: ucp_ep_create(proc=1) failed\n"
        ),
    ),
    "a transport that nobody says is MPI's": (
        "fabric-path-unreachable",
        (
            "[1719922011.2] [g02:5120 :0] ib_device.c:1332 UCX  ERROR ibv_create_ah(dlid=49152 "
            "sl=0 port=1) for RC DEVX QP connect on mlx5_2 failed: Connection timed out\n"
        ),
    ),
    "an entry of the GID table that a transport refuses": (
        "gid-index-wrong",
        "[1719922011.2] [g02:5120:0] ib_device.c:1101 UCX  ERROR invalid gid[6] on mlx5_4:1\n",
    ),
    "a queue over Ethernet to a link-local address": (
        "gid-link-local",
        (
            "[1719922011.2] [g02:5120:0] ib_mlx5_log.c:171 UCX  ERROR Transport retry count "
            "exceeded on mlx5_4:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)\n"
            "[1719922011.2] [g02:5120:0] ib_mlx5_log.c:171 UCX  ERROR RC QP 0x21 wqe[3]: SEND "
            "s-e [inl len 26] [rqpn 0x7 dlid=0 sl=0 port=1 src_path_bits=0 "
            "dgid=fe80::5aa2:e1ff:fe44:12 sgid_index=3 traffic_class=106]\n"
        ),
    ),
    "a pinned index that is link-local": (
        "gid-index-wrong",
        (
            "n1:7:9 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 1.\n"
            "n1:7:9 [0] NCCL WARN NET/IB : Got completion from peer 10.1.1.2<4431> with "
            "status=12 opcode=0 len=0 vendor err 129 (Send) localGid "
            "fe80::5aa2:e1ff:fe44:11 remoteGidsfe80::5aa2:e1ff:fe44:12 hca mlx5_4\n"
        ),
    ),
    "the memory of a GPU that a process does not see": (
        "container-gpu-isolation",
        (
            "[1719922011.2] [g02:5120:0] cuda_ipc_cache.c:158 UCX  ERROR "
            "cuIpcOpenMemHandle() failed: invalid device ordinal\n"
        ),
    ),
    "a guest with one flat bus": (
        "vm-topology-missing",
        (
            "$ systemd-detect-virt\nkvm\n$ nvidia-smi topo -m\n"
            "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\n"
            "GPU0\t X \tPHB\tPHB\tPHB\tPHB\nGPU1\tPHB\t X \tPHB\tPHB\tPHB\n"
            "GPU2\tPHB\tPHB\t X \tPHB\tPHB\nGPU3\tPHB\tPHB\tPHB\t X \tPHB\n"
        ),
    ),
    "a peer sought at the bridge of virtual machines": (
        "bootstrap-wrong-interface",
        (
            "n2:8:9 [0] NCCL WARN socketStartConnect: Connect to 192.168.122.1<44321> failed : "
            "Connection refused\n"
        ),
    ),
    "ranks that meet over a tunnel and over a card": (
        "bootstrap-wrong-interface",
        (
            "n1:7:7 [0] NCCL INFO Bootstrap : Using tun0:10.8.0.3<0>\n"
            "n2:8:8 [0] NCCL INFO Bootstrap : Using eno1:10.41.0.3<0>\n"
            "n2:8:9 [0] NCCL WARN socketStartConnect: Connect to 10.8.0.3<44321> failed : "
            "Connection timed out\n"
        ),
    ),
    "an adapter asked for where TCP is all there is": (
        "container-no-rdma-device",
        (
            "[1719922011.2] [g02:5120:0] ucp_context.c:1010 UCX  WARN  network device "
            "'mlx5_2:1' is not available, please use one or more of: 'eth0'(tcp), 'lo'(tcp)\n"
        ),
    ),
    "a node that a group alone may open": (
        "container-rdma-permission",
        (
            "$ ls -l /dev/infiniband/uverbs0\n"
            "crw-rw---- 1 root rdma 231, 192 Nov  3 12:00 /dev/infiniband/uverbs0\n"
            "$ ibv_devinfo\nFailed to open device\n"
        ),
    ),
    "a module that is loaded and used by no RDMA driver": (
        "gdr-peermem-not-registered",
        (
            "$ cat /proc/modules\n"
            "nvidia_peermem 16384 0 - Live 0xffffffffc1a2b000 (POE)\n"
            "ib_core 446464 3 rdma_cm,ib_uverbs,mlx5_ib, Live 0xffffffffc0f51000 (OE)\n"
            "n1:7:9 [0] NCCL INFO NCCL version 2.23.4+cuda12.6\n"
            "n1:7:9 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n"
        ),
    ),
    "an old library where the RDMA driver uses the module": (
        "gdr-nccl-too-old",
        (
            "$ lsmod | grep peer\n"
            "nvidia_peermem         16384  0\n"
            "ib_core               434176  3 rdma_cm,nvidia_peermem,mlx5_ib\n"
            "n1:7:9 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n"
        ),
    ),
    "a benchmark on GPU memory while the module is loaded": (
        "gdr-peermem-not-registered",
        (
            "$ lsmod | grep nvidia_peermem\nnvidia_peermem         16384  0\n"
            "$ ib_write_bw -d mlx5_0 --use_cuda=0\nCouldn't allocate MR\n"
        ),
    ),
    "a window of the GPU that is full": (
        "gdr-access-blocked",
        (
            "$ ib_write_bw -d mlx5_0 --use_cuda=0 -s 536870912\n"
            "Couldn't allocate MR\n"
            "nvidia_peermem: nvidia_p2p_get_pages failed: -12\n"
        ),
    ),
    "a reset that is asked for by rows to be remapped": (
        "gpu-xid-ecc-contained",
        (
            "==============NVSMI LOG==============\n"
            "Attached GPUs                             : 1\n"
            "GPU 00000000:DF:00.0\n"
            "    GPU Recovery Action                   : Reset\n"
            "    Remapped Rows\n"
            "        Correctable Error                 : 0\n"
            "        Uncorrectable Error               : 1\n"
            "        Pending                           : Yes\n"
            "        Remapping Failure Occurred        : No\n"
        ),
    ),
    "a GPU that does not start, and a tool that cannot reach it": (
        "gpu-xid-other",
        (
            "$ nvidia-smi\n"
            "Unable to determine the device handle for GPU2: 0000:3B:00.0: Unknown Error\n"
            "$ dmesg\n"
            "[  33.1] NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x62:0x55:2401)\n"
        ),
    ),
    "an object store that does not answer, and ranks that wait": (
        "app-storage-stall",
        (
            "rank 3 ERROR reading: ReadTimeoutError on s3://own-bucket/part-7.tar, attempt 9\n"
            "[rank0]:[E ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective "
            "operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, Timeout(ms)=600000) ran "
            "for 600029 milliseconds before timing out.\n"
        ),
    ),
    "a profile that closes the device nodes": (
        "container-rdma-permission",
        (
            'audit: type=1400 audit(1718000012.1:3): apparmor="DENIED" operation="open" '
            'profile="own" name="/dev/infiniband/uverbs1" pid=20 comm="python3"\n'
            "NCCL WARN NET/IB : Unable to open device mlx5_1\n"
        ),
    ),
    "sockets over the bridge of containers": (
        "bootstrap-wrong-interface",
        (
            "n1:7:9 [0] NCCL INFO NET/Socket : Using [0]bond0:10.1.1.1<0> "
            "[1]br-05ab:172.19.0.1<0>\n"
            "n2:8:9 [0] NCCL WARN Net : Connect to 172.19.0.1<44321> failed : "
            "Connection refused\n"
        ),
    ),
    "two interfaces in one subnet": (
        "host-routing-ambiguous",
        (
            "$ ip -br addr\neth0 UP 10.1.0.5/24\neth1 UP 10.1.0.6/24\n"
            "n2:8:9 [0] NCCL WARN socketStartConnect: Connect to 10.1.0.6<3777> failed : "
            "Connection timed out\n"
        ),
    ),
}
SOUND = {
    "a service that died": "[12.6] tracker-miner-f[4122]: segfault at 0 ip 00007f error 4\n",
    "a stranger without memory": (
        "[Tue Mar 12 03:10:22 2024] Memory cgroup out of memory: Killed process 8123 "
        "(prometheus) total-vm:10kB, anon-rss:5kB\n"
    ),
    "a connection that came at the second try": (
        "n1:1:9 [0] NCCL INFO Call to connect returned Connection refused, retrying\n"
        "n1:1:9 [0] NCCL INFO ncclCommInitRank comm 0x5 rank 0 nranks 2 cudaDev 0 nvmlDev 0 "
        "busId 18000 commId 0x9 - Init COMPLETE\n"
    ),
    "a switch fault that is not fatal": (
        "[ 5.1] nvidia-nvswitch1: SXid (PCI:0000:c2:00.0): 19084, Non-fatal, Link 43 AN1 "
        "Heartbeat Timeout Error\n"
    ),
    "providers of adapters that the host has not": (
        "libibverbs: Warning: couldn't load driver 'libvmw_pvrdma-rdmav34.so': "
        "libvmw_pvrdma-rdmav34.so: cannot open shared object file\n"
    ),
    "an adapter too far from one GPU": (
        "n1:1:9 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for GPU 5000 / HCA 3 (distance "
        "7 > 4)\n"
    ),
}


def _said(text):
    facts, file = read_text(text, "log.txt")
    return diagnose(Observation(tuple(facts), (file,)))


@pytest.mark.parametrize(("cause", "text"), NAMED.values(), ids=NAMED)
def test_the_cause_is_named_first(cause, text):
    assert _said(text).causes[:1] == (cause,)


@pytest.mark.parametrize("text", SOUND.values(), ids=SOUND)
def test_what_is_no_fault_of_the_job_does_not_fail_it(text):
    said = _said(text)
    assert said.verdict is not Verdict.FINDINGS
    assert not [one for one in said.findings if one.finding.severity is Severity.ERROR]


def test_a_document_of_weft_itself_says_nothing_of_a_cluster():
    text = "apiVersion: weft/v1\nkind: Cluster\nspec:\n  preset: dgx_h100\n  hosts: 16\n"
    said = _said(text)
    assert said.verdict is Verdict.UNDECIDED
    assert not said.findings
