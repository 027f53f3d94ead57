#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Host number $1: one address pair and one MAC on a "bond" of all its eth ports that sends broadcasts on each of them.
# A bridge stands for the bond: its ports are isolated, so nothing is ever forwarded from one plane into the other, and
# what the host itself sends to everybody leaves on all of them, as from a NIC that duplicates ARP and ND.
set -eu
number=$1
ip link add bond0 address "02:00:00:00:00:1$number" type bridge
for port in /sys/class/net/eth*; do
    name=$(basename "$port")
    ip link set "$name" master bond0 up
    bridge link set dev "$name" isolated on
done
ip link set bond0 up
ip addr add "10.0.0.1$number/16" dev bond0
ip -6 addr add "fd00:0:0:1::1$number/64" dev bond0 nodad
ip route add default via 10.0.0.1
ip -6 route add default via fd00:0:0:1::1
