#!/bin/sh
cma_roce_tos -d mlx5_0 -t 104
