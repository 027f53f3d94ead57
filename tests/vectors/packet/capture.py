#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Records ARP and ND frames of the running kernel, iputils and ndisc6 as named `.hex` files.

`capture.py [--out DIR]` joins two network namespaces of its own by a veth pair, `leaf` (this process)
and `host`, and writes the frames that each command puts on the wire, as a packet socket at the leaf's
end sees them. Needs root, iputils-arping, iputils-ping and ndisc6.
"""
import argparse
import ctypes
import os
import pathlib
import select
import socket
import subprocess
import sys
import time

CLONE_NEWNET = 0x40000000
ETH_P_ALL = 3
LEAF, HOST = "02:00:00:00:00:01", "02:00:00:00:00:05"
ARP, IPV6 = b"\x08\x06", b"\x86\xdd"


def sh(command, check=True):
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{command}: {done.stderr}")


def is_ours(frame):
    """ARP, NS or NA."""
    return frame[12:14] == ARP or (frame[12:14] == IPV6 and frame[20] == 58 and frame[54] in (135, 136))


class Wire:
    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.bind(("leaf", 0))

    def frames(self, seconds):
        """What has come, and comes within this time."""
        found, end = [], time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.socket], [], [], left)[0]:
                frame = self.socket.recv(65536)
                if is_ours(frame):
                    found.append(frame)
        return found


class Capture:
    def __init__(self, out):
        self.out = out
        self.wire = None
        self.host = None

    def start(self):
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
            sys.exit("needs root")
        # pylint: disable-next=consider-using-with
        self.host = subprocess.Popen(["unshare", "-n", "sleep", "600"])
        time.sleep(0.2)
        sh("sysctl -qw net.ipv6.conf.default.router_solicitations=0")
        sh(f"ip link add leaf address {LEAF} type veth peer name host address {HOST}")
        sh(f"ip link set host netns {self.host.pid}")
        sh("ip addr add 10.0.0.1/24 dev leaf; ip addr add fd00::1/64 dev leaf nodad; ip link set leaf up")
        self.at_host("ip addr add 10.0.0.5/24 dev host; ip addr add fd00::5/64 dev host nodad; ip link set host up")
        self.wire = Wire()
        time.sleep(2.5)  # Both ends' link-local addresses pass their DAD.

    def at_host(self, command, check=True):
        sh(f"nsenter -t {self.host.pid} -n sh -c '{command}'", check)

    def record(self, command, names, where="leaf", seconds=0.5, keep=lambda frame: True):
        """Runs a command and names the frames that it causes, in order; None drops one."""
        self.wire.frames(0.05)
        (sh if where == "leaf" else self.at_host)(command, False)
        frames = [frame for frame in self.wire.frames(seconds) if keep(frame)]
        if len(frames) < len(names):
            sys.exit(f"{command}: {len(frames)} frames, not {len(names)}: {[f.hex() for f in frames]}")
        for name, frame in zip(names, frames):
            if name:
                text = f"# Linux {os.uname().release}, {where}: {command}\n{frame.hex()}\n"
                (self.out / f"{name}.hex").write_text(text)


def is_icmpv6(kind):
    return lambda frame: frame[12:14] == IPV6 and frame[54] == kind


def is_about(last):
    """An NS or NA whose target ends in this byte, so no link-local one."""
    return lambda frame: frame[12:14] == IPV6 and frame[62:64] == b"\xfd\x00" and frame[77] == last


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    capture = Capture(parser.parse_args().out)
    capture.start()
    try:
        capture.record("ping -c1 -W1 10.0.0.5", ["arp-request", "arp-reply"])
        capture.record("ip neigh change 10.0.0.5 dev leaf nud probe", ["arp-request-unicast", None], seconds=1.5)
        capture.record("arping -U -c1 -I host 10.0.0.5", ["arp-announcement-request"], "host")
        capture.record("arping -A -c1 -I host 10.0.0.5", ["arp-announcement-reply"], "host")
        capture.record("arping -D -c1 -w1 -I host 10.0.0.1", ["arp-probe", "arp-probe-reply"], "host", 1.5)
        capture.record("ping -c1 -W1 fd00::5", ["ns", "na"], keep=is_about(5))
        capture.record(
            "ip neigh change fd00::5 dev leaf nud probe", ["ns-unicast", "na-of-unicast"], seconds=1.5, keep=is_about(5))
        capture.record("ip addr add fd00::7/64 dev host", ["ns-dad"], "host", 1.5, is_about(7))
        capture.record("ip addr add fd00::1/64 dev host", ["ns-dad-taken", "na-dad-taken"], "host", 1.5, is_about(1))
        capture.at_host("ip addr del fd00::1/64 dev host")
        capture.at_host("sysctl -qw net.ipv6.conf.host.ndisc_notify=1")
        capture.record("ip addr add fd00::8/64 dev host", [None, "na-unsolicited"], "host", 2.5, is_about(8))
        capture.record("ndisc6 -1 -r1 -s fd00::5 fd00::1 host", ["ns-ndisc6", "na-ndisc6"], "host", 1.0, is_about(1))
        sh("sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv6.conf.leaf.proxy_ndp=1 net.ipv6.neigh.leaf.proxy_delay=0")
        sh("ip neigh add proxy fd00::9 dev leaf")
        capture.record("ndisc6 -1 -r1 -s fd00::5 fd00::9 host", ["ns-for-proxy", "na-proxy"], "host", 1.0, is_about(9))
    finally:
        capture.host.terminate()
        capture.host.wait()


if __name__ == "__main__":
    main()
