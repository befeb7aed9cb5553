#!/bin/bash
export NCCL_IB_HCA="=mlx5_0,mlx5_1"
export NCCL_IB_TC=106
export NCCL_NET_MERGE_LEVEL=SYS
torchrun --nnodes=4 --nproc-per-node=8 --rdzv-endpoint=gpu01:29500 train.py
