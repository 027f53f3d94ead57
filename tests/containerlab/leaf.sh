#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A leaf's server side: every swp port in one bridge that carries the rail's gateway, the same on every leaf.
set -eu
ip link add Vlan100 address 02:00:00:00:01:00 type bridge
for port in /sys/class/net/swp*; do
    ip link set "$(basename "$port")" master Vlan100 up
done
ip link set Vlan100 up
ip addr add 10.0.0.1/16 dev Vlan100
ip -6 addr add fd00:0:0:1::1/64 dev Vlan100 nodad
