#!/bin/bash
export NCCL_SOCKET_NTHREADS=16
export NCCL_NSOCKS_PERTHREAD=8
torchrun --nnodes=4 --nproc-per-node=8 --rdzv-endpoint=gpu01:29500 train.py
