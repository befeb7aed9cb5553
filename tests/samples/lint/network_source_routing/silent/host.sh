#!/bin/sh
mlnx_qos -i eth_r0 --trust dscp --pfc 0,0,0,1,0,0,0,0
