#!/bin/sh
mpirun -np 24 --hostfile hostfile --map-by ppr:8:node -x NCCL_DEBUG=WARN ./all_reduce_perf -b 8 -e 1G
