# SPDX-License-Identifier: Apache-2.0
# The management link, and VNI 100 with one host behind a port of its bridge.
set -e
ip addr add 10.66.0.2/24 dev eth1
ip addr add fd00:66::2/64 dev eth1 nodad
ip link add br100 type bridge
ip link add vxlan100 type vxlan id 100 local 10.66.0.2 dstport 4789 nolearning
ip link set vxlan100 master br100
ip link add port1 type veth peer name host1
ip link set port1 master br100
for link in br100 vxlan100 port1 host1; do
    ip link set $link up
done
bridge fdb add 02:00:00:00:00:11 dev port1 master static
