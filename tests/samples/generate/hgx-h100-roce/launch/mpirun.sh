#!/bin/sh
# mpirun of Open MPI of hgx-h100-roce, by weft
# Run it on one host: sh mpirun.sh ./all_reduce_perf -b 8 -e 8G -f 2 -g 1
set -eu
# MPI only starts the ranks and exchanges addresses: over TCP, off the RDMA NICs.
# A rail is reached from its own address alone, as RDMA does and MPI does not.
exec mpirun -np 16 --hostfile "$(dirname "$0")/hostfile" --map-by ppr:8:node --bind-to none \
    --mca pml ob1 --mca btl tcp,self --mca coll ^hcoll \
    --mca btl_tcp_if_exclude lo,sppp,172.16.0.0/27 \
    -x NCCL_IB_HCA="=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7" \
    -x NCCL_IB_TC="106" \
    -x LD_LIBRARY_PATH "$@"
