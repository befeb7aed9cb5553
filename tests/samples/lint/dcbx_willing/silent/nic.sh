#!/bin/sh
mlxconfig -y -d mlx5_0 set DCBX_WILLING_P1=0
