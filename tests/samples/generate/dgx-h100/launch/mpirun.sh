#!/bin/sh
# mpirun of Open MPI of dgx-h100, by weft
# Run it on one host: sh mpirun.sh ./all_reduce_perf -b 8 -e 8G -f 2 -g 1
set -eu
# MPI only starts the ranks and exchanges addresses: over TCP, off the RDMA NICs.
exec mpirun -np 16 --hostfile "$(dirname "$0")/hostfile" --map-by ppr:8:node --bind-to none \
    --mca pml ob1 --mca btl tcp,self --mca coll ^hcoll \
    -x NCCL_IB_HCA="=mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_10,mlx5_11" \
    -x NCCL_IB_SL="1" \
    -x LD_LIBRARY_PATH "$@"
