#!/bin/sh
ip address replace 172.16.0.1/31 dev eth1
ip route replace 172.16.0.0/12 via 172.16.0.0 dev eth1 table 101
ip rule add from 172.16.0.1 table 101
ip link set dev eth1 mtu 9000 up
