#!/bin/sh
set -eu
for interface in eth_r0 eth_r1; do
    ip link set dev "$interface" mtu 9000 up
    ethtool -A "$interface" rx off tx off
    mlnx_qos -i "$interface" --trust dscp --pfc 0,0,0,1,0,0,0,0
    mlnx_qos -i "$interface" --dscp2prio set,26,3
    mlnx_qos -i "$interface" --dscp2prio set,48,6
    cma_roce_mode -d mlx5_0 -p 1 -m 2
    cma_roce_tos -d mlx5_0 -t 106
    echo 1 >/sys/class/net/$interface/ecn/roce_np/enable/3
    echo 1 >/sys/class/net/$interface/ecn/roce_rp/enable/3
    echo 48 >/sys/class/net/$interface/ecn/roce_np/cnp_dscp
    echo 6 >/sys/class/net/$interface/ecn/roce_np/cnp_802p_prio
    echo 2 >/sys/class/net/$interface/ecn/roce_np/min_time_between_cnps
done
