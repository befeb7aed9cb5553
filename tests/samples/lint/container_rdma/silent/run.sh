#!/bin/sh
docker run --gpus all --shm-size=16g --ulimit memlock=-1 --device /dev/infiniband --net host -e NCCL_IB_HCA==mlx5_0 train
