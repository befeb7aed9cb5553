#!/bin/sh
# torchrun of dgx-h100, by weft
# Run it on every host: sh torchrun.sh train.py ...
set -eu
export NCCL_IB_HCA="=mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_10,mlx5_11"
export NCCL_IB_SL="1"
exec torchrun --nnodes=2 --nproc-per-node=8 --rdzv-backend=c10d --rdzv-id="${JOB_ID:-weft}" \
    --rdzv-endpoint="${MEET:-host-0000}:29500" "$@"
