#!/bin/bash
export NCCL_SOCKET_IFNAME=bond0
torchrun --nnodes=2 --nproc-per-node=8 --rdzv-endpoint=gpu01:29500 train.py
