#!/bin/bash
export NCCL_IB_HCA==mlx5_0,mlx5_1
NCCL_IB_QPS_PER_CONNECTION=4
python train.py
