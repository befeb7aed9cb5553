#!/bin/bash
export NCCL_IB_TC=106
mpirun -np 16 --hostfile hosts ./train
