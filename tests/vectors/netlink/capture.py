#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Records rtnetlink datagrams of the running kernel as named `.hex` files.

`capture.py [--out DIR] [STORY]...` plays each story in network namespaces of its own and writes
what the kernel said, with the command that made it say so. Stories that need bonds, VLANs, VRFs
or nlmon run where the kernel has them: `tests/vm/run --out DIR capture.py --out ... vm`.
"""
import argparse
import ctypes
import fcntl
import os
import pathlib
import select
import socket
import struct
import subprocess
import sys
import threading
import time

AF_BRIDGE = 7
SOL_NETLINK = 270
NETLINK_EXT_ACK, NETLINK_CAP_ACK, NETLINK_GET_STRICT_CHK = 11, 10, 12
GROUP_LINK, GROUP_NEIGH, GROUP_V4_ADDR, GROUP_V6_ADDR = 1, 3, 5, 9
NLM_REQUEST, NLM_MULTI, NLM_ACK, NLM_DUMP, NLM_DUMP_INTR = 1, 2, 4, 0x300, 0x10
NLMSG_ERROR, NLMSG_DONE = 2, 3
NEWLINK, DELLINK, GETLINK, SETLINK = 16, 17, 18, 19
NEWADDR, DELADDR, GETADDR = 20, 21, 22
NEWNEIGH, DELNEIGH, GETNEIGH = 28, 29, 30
NEWNEIGHTBL, GETNEIGHTBL, SETNEIGHTBL = 64, 66, 67
SOCK_DIAG = 20  # SOCK_DIAG_BY_FAMILY, on NETLINK_SOCK_DIAG.
NUD = {"incomplete": 1, "reachable": 2, "stale": 4, "delay": 8, "probe": 16, "failed": 32,
       "noarp": 64, "permanent": 128}
IFLA_IFNAME, IFLA_MASTER, IFLA_CARRIER, IFLA_EXT_MASK = 3, 10, 33, 29
RTEXT_FILTER_SKIP_STATS = 8
HOST_MAC = "02:00:00:00:05:01"
LIBC = ctypes.CDLL(None, use_errno=True)
OUT = pathlib.Path(".")
MESSAGE_NAMES = {2: "NLMSG_ERROR", 3: "NLMSG_DONE", 16: "RTM_NEWLINK", 17: "RTM_DELLINK",
                 18: "RTM_GETLINK", 19: "RTM_SETLINK", 20: "RTM_NEWADDR", 21: "RTM_DELADDR",
                 22: "RTM_GETADDR", 28: "RTM_NEWNEIGH", 29: "RTM_DELNEIGH", 30: "RTM_GETNEIGH",
                 64: "RTM_NEWNEIGHTBL", 67: "RTM_SETNEIGHTBL"}


def sh(command, check=True):
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{command}: {done.stderr}")
    return done


def start(command):
    """Runs on beside us for a moment."""
    subprocess.Popen(command, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.1)


def write_sysctl(path, value):
    pathlib.Path("/proc/sys/net", path).write_text(str(value))


class Message:
    """One netlink message, read just far enough to recognise it."""

    def __init__(self, raw, age=0.0):
        self.raw, self.age = raw, age
        self.length, self.type, self.flags, self.seq, _ = struct.unpack_from("=IHHII", raw)
        self.family = raw[16] if len(raw) > 16 else 0
        self.index = struct.unpack_from("=i", raw, 20)[0] if len(raw) >= 24 else 0
        self.attributes = {}
        at = {NEWLINK: 32, DELLINK: 32, NEWNEIGH: 28, DELNEIGH: 28, NEWADDR: 24,
              DELADDR: 24}.get(self.type, len(raw))
        while at + 4 <= len(raw):
            size, kind = struct.unpack_from("=HH", raw, at)
            if size < 4:
                break
            self.attributes[kind & 0x3FFF] = raw[at + 4:at + size]
            at += (size + 3) & ~3

    @property
    def state(self):
        return struct.unpack_from("=H", self.raw, 24)[0]

    @property
    def name(self):
        if self.type not in (NEWLINK, DELLINK):
            return ""
        return self.attributes.get(IFLA_IFNAME, b"").rstrip(b"\0").decode()

    def is_link(self, name, kind=NEWLINK, family=0):
        return (self.type, self.family, self.name) == (kind, family, name)

    def is_neighbor(self, address, state=None, kind=NEWNEIGH):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return (self.type == kind and self.family == family and
                self.attributes.get(1) == socket.inet_pton(family, address) and
                (state is None or self.state == NUD[state]))

    def is_fdb(self, mac, kind=NEWNEIGH):
        return (self.type == kind and self.family == AF_BRIDGE and
                self.attributes.get(2) == bytes.fromhex(mac.replace(":", "")))

    def __str__(self):
        words = [MESSAGE_NAMES.get(self.type, str(self.type))]
        if self.type in (NEWLINK, DELLINK):
            words += [self.name, "AF_BRIDGE" if self.family == AF_BRIDGE else ""]
            words.append("flags 0x%x" % struct.unpack_from("=I", self.raw, 24)[0])
            carrier = self.attributes.get(IFLA_CARRIER)
            words.append(f"carrier {carrier[0]}" if carrier else "")
            if IFLA_MASTER in self.attributes:
                words.append("master %d" % struct.unpack("=I", self.attributes[IFLA_MASTER])[0])
        if self.type in (NEWNEIGH, DELNEIGH):
            names = [name.upper() for name, bit in NUD.items() if self.state & bit]
            destination = self.attributes.get(1, b"")
            if len(destination) in (4, 16):
                family = socket.AF_INET6 if len(destination) == 16 else socket.AF_INET
                words.append(socket.inet_ntop(family, destination))
            words.append(self.attributes.get(2, b"").hex(":"))
            words += [f"dev {self.index}", "|".join(names) or "NONE",
                      "AF_BRIDGE" if self.family == AF_BRIDGE else ""]
        return " ".join(word for word in words if word)


def split(datagram):
    at = 0
    while at + 16 <= len(datagram):
        length = struct.unpack_from("=I", datagram, at)[0]
        if length < 16:
            return  # iproute2 sends its whole buffer.
        yield Message(datagram[at:at + length])
        at += (length + 3) & ~3


def save(name, command, datagrams, note="", routing=True):
    lines = [f"# kernel: {os.uname().release}", f"# command: {command}"]
    if note:
        lines.append(f"# note: {note}")
    for datagram in datagrams:
        summary = [str(message) for message in split(datagram)]
        if routing:
            lines.append("# " + "; ".join(summary[:4]) + (" ..." if len(summary) > 4 else ""))
        lines.append(datagram.hex())
    (OUT / f"{name}.hex").write_text("\n".join(lines) + "\n")


class Events:
    """The kernel's notifications in this namespace."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 16 << 20)  # SO_RCVBUFFORCE
        self.socket.bind((0, 0))
        for group in (GROUP_LINK, GROUP_NEIGH, GROUP_V4_ADDR, GROUP_V6_ADDR):
            self.socket.setsockopt(SOL_NETLINK, 1, group)

    def drain(self):
        self.collect(lambda _: False, 0.05)

    def collect(self, last, timeout, settle=0.0):
        """Messages up to the first for which `last` holds (and `settle` seconds more)."""
        seen, found, began = [], None, time.monotonic()
        end = began + timeout
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.socket], [], [], left)[0]:
                break
            message = Message(self.socket.recv(1 << 16), time.monotonic() - began)
            seen.append(message)
            if found is None and last(message):
                found = message
                if not settle:
                    break
                end = time.monotonic() + settle
        return seen, found

    def watch(self, seconds):
        """Starts a thread that reads for so long; the list holds (when, message) once it ended."""
        seen, end = [], time.monotonic() + seconds

        def read():
            while (left := end - time.monotonic()) > 0:
                if select.select([self.socket], [], [], left)[0]:
                    seen.append((time.monotonic(), Message(self.socket.recv(1 << 16))))

        thread = threading.Thread(target=read)
        thread.start()
        return thread, seen

    def record(self, name, command, last, timeout=5.0, only=None, note="", run=None):
        """Runs the command and saves the message that `last` recognises, or all that `only` does."""
        self.drain()
        (run or (lambda: sh(command)))()
        seen, found = self.collect(last, timeout, settle=0.15 if only else 0.0)
        if found is None:
            raise RuntimeError(f"{name}: never seen after {command}: {[str(m) for m in seen]}")
        save(name, command, [m.raw for m in seen if only(m)] if only else [found.raw], note)
        return seen


class Requests:
    """Asks the kernel as planed does: strict checking, capped extended acknowledgements."""

    def __init__(self, cap_ack=True):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.socket.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.socket.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, int(cap_ack))
        self.socket.setsockopt(SOL_NETLINK, NETLINK_GET_STRICT_CHK, 1)
        self.socket.bind((0, 0))
        self.socket.settimeout(5)
        self.seq = 0

    def send(self, kind, flags, body):
        self.seq += 1
        self.socket.send(struct.pack("=IHHII", 16 + len(body), kind, flags | NLM_REQUEST, self.seq,
                                     0) + body)

    def dump(self, kind, body, size=1 << 15, between=None):
        self.send(kind, NLM_DUMP, body)
        datagrams = []
        while True:
            datagrams.append(self.socket.recv(size))
            if between:
                between(len(datagrams))
            if any(m.type in (NLMSG_DONE, NLMSG_ERROR) for m in split(datagrams[-1])):
                return datagrams

    def ask(self, kind, flags, body):
        self.send(kind, flags, body)
        return self.socket.recv(1 << 15)


def attribute(kind, payload):
    return struct.pack("=HH", 4 + len(payload), kind) + payload + b"\0" * (-len(payload) % 4)


def ifinfo(family=0, index=0, attributes=b""):
    return struct.pack("=BxHiII", family, 0, index, 0, 0) + attributes


def ndmsg(family, index=0, state=0, flags=0, attributes=b""):
    return struct.pack("=BxHiHBB", family, 0, index, state, flags, 0) + attributes


def ifaddrmsg(family=0):
    return struct.pack("=BBBBI", family, 0, 0, 0, 0)


SKIP_STATS = attribute(IFLA_EXT_MASK, struct.pack("=I", RTEXT_FILTER_SKIP_STATS))


class Leaf:
    """A fresh namespace (this process moves into it) and a second one for the hosts."""

    def __init__(self):
        if LIBC.unshare(0x40000000):
            sys.exit("cannot unshare: run as root")
        self.hosts = subprocess.Popen(["unshare", "--net", "sleep", "600"])
        while os.readlink(f"/proc/{self.hosts.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            time.sleep(0.01)
        sh("ip link set lo up")
        # Router solicitations, MLD and DAD would talk in between.
        for key in ("default", "all"):
            write_sysctl(f"ipv6/conf/{key}/accept_dad", 0)
            write_sysctl(f"ipv6/conf/{key}/router_solicitations", 0)
        self.on_hosts("sysctl -qw net.ipv6.conf.default.accept_dad=0 "
                      "net.ipv6.conf.default.router_solicitations=0; ip link set lo up")

    def on_hosts(self, command, check=True):
        return sh(f"nsenter --net=/proc/{self.hosts.pid}/ns/net sh -c '{command}'", check)

    def port(self, name, index, address=None, mac=HOST_MAC):
        sh(f"ip link add {name} index {index} address 02:00:00:00:aa:{index:02x} type veth "
           f"peer name h{name} netns {self.hosts.pid}")
        self.on_hosts(f"ip link set h{name} address {mac} up" +
                      (f"; ip addr add {address} dev h{name}" if address else ""))
        sh(f"ip link set {name} up")

    def bridge(self, name="br0", index=10, address="10.0.0.1/16"):
        sh(f"ip link add {name} index {index} address 02:00:00:00:00:01 type bridge mcast_snooping 0")
        sh(f"ip link set {name} up")
        if address:
            sh(f"ip addr add {address} dev {name}")

    def close(self):
        self.hosts.kill()
        self.hosts.wait()


# --- Stories for any kernel -------------------------------------------------------------------

def story_links(leaf, events):
    record = events.record
    record("link-bridge-new", "ip link add br0 index 10 type bridge",
           lambda m: m.is_link("br0"),
           run=lambda: sh("ip link add br0 index 10 address 02:00:00:00:00:01 type bridge mcast_snooping 0"))
    sh("ip link set br0 up")
    record("link-veth-new", "ip link add swp1 index 11 type veth peer name hswp1 netns HOSTS",
           lambda m: m.is_link("swp1"), run=lambda: leaf.port("swp1", 11, "10.0.0.5/16"))
    events.drain()
    of_port = lambda m: m.type in (NEWLINK, DELLINK) and m.name in ("swp1", "br0")
    record("link-port-joins-bridge", "ip link set swp1 master br0",
           lambda m: m.is_link("swp1") and IFLA_MASTER in m.attributes, only=of_port,
           note="AF_BRIDGE messages carry IFLA_PROTINFO; the AF_UNSPEC one says who is master")
    sh("ip link add br1 index 12 address 02:00:00:00:00:02 type bridge; ip link set br1 up")
    carrier = lambda value: lambda m: (m.is_link("swp1") and
                                       m.attributes.get(IFLA_CARRIER) == bytes([value]))
    record("link-port-carrier-lost", "on the peer: ip link set hswp1 down", carrier(0),
           only=of_port, run=lambda: leaf.on_hosts("ip link set hswp1 down"))
    record("link-port-carrier-back", "on the peer: ip link set hswp1 up", carrier(1),
           only=of_port, run=lambda: leaf.on_hosts("ip link set hswp1 up"))
    record("link-port-admin-down", "ip link set swp1 down", lambda m: m.is_link("swp1"), only=of_port)
    record("link-port-admin-up", "ip link set swp1 up", carrier(1), only=of_port)
    record("link-port-moves-bridge", "ip link set swp1 master br1",
           lambda m: m.is_link("swp1") and m.attributes.get(IFLA_MASTER) == b"\x0c\0\0\0",
           only=lambda m: m.type in (NEWLINK, DELLINK) and m.name == "swp1",
           note="the RTM_DELLINK of family AF_BRIDGE says: no longer a port; the link lives on")
    record("link-port-leaves-bridge", "ip link set swp1 nomaster",
           lambda m: m.is_link("swp1") and IFLA_MASTER not in m.attributes,
           only=lambda m: m.type in (NEWLINK, DELLINK) and m.name == "swp1")
    sh("ip link set swp1 down")
    record("link-renamed", "ip link set swp1 name server1", lambda m: m.is_link("server1"))
    record("link-deleted", "ip link del server1",
           lambda m: m.is_link("server1", DELLINK), note="the veth pair goes as one")
    sh("ip link add vx100 index 14 type vxlan id 100 dstport 4789 local 127.0.0.1 nolearning")
    record("link-vxlan-port-joins-bridge", "ip link set vx100 master br0",
           lambda m: m.is_link("vx100") and IFLA_MASTER in m.attributes)
    sh("ip tuntap add tap0 mode tap")
    record("link-tap-admin-up-no-carrier", "ip link set tap0 up", lambda m: m.is_link("tap0"))


def in_state(leaf, requests, family, address, state):
    """The RTM_NEWNEIGH of one neighbour, from a dump: some states are never notified."""
    for datagram in requests.dump(GETNEIGH, ndmsg(family)):
        for message in split(datagram):
            if message.is_neighbor(address, state):
                return message.raw
    return None


def story_neighbors(leaf, events):
    leaf.bridge()
    sh("ip -6 addr add fd00:0:0:1::1/64 dev br0 nodad")
    leaf.port("swp1", 11, "10.0.0.5/16")
    leaf.on_hosts("ip -6 addr add fd00:0:0:1::5/64 dev hswp1 nodad")
    sh("ip link set swp1 master br0")
    time.sleep(0.3)
    requests = Requests()
    for version, family, host, silent in (("4", socket.AF_INET, "10.0.0.5", "10.0.0.99"),
                                          ("6", socket.AF_INET6, "fd00:0:0:1::5", "fd00:0:0:1::99")):
        base = f"ipv{version}/neigh/br0"
        write_sysctl(f"{base}/delay_first_probe_time", 1)
        write_sysctl(f"{base}/retrans_time_ms", 200)
        write_sysctl(f"{base}/base_reachable_time_ms", 2500)
        ping = f"ping -{version} -c1 -W1 {host}"
        events.record(f"neigh-v{version}-reachable", ping,
                      lambda m: m.is_neighbor(host, "reachable"), run=lambda: sh(ping))
        events.record(f"neigh-v{version}-stale", "(base_reachable_time passes)",
                      lambda m: m.is_neighbor(host, "stale"), run=lambda: None, timeout=10)
        # The host falls silent, so that DELAY goes on to PROBE and FAILED.
        leaf.on_hosts("ip link set hswp1 arp off; sysctl -qw net.ipv4.conf.hswp1.arp_ignore=8; "
                      "ip -6 addr flush dev hswp1")
        events.drain()
        start(ping)
        delay = in_state(leaf, requests, family, host, "delay")
        assert delay, "no DELAY"
        save(f"neigh-v{version}-delay", f"{ping}; dump", [delay],
             "from a dump: STALE to DELAY is never notified")
        seen, failed = events.collect(lambda m: m.is_neighbor(host, "failed"), 15)
        states = [m for m in seen if m.is_neighbor(host)]
        probe = next(m for m in states if m.state == NUD["probe"])
        save(f"neigh-v{version}-probe", "(nobody answers)", [probe.raw])
        save(f"neigh-v{version}-failed", "(nobody answers)", [failed.raw],
             "ages: " + ", ".join(f"{m} {m.age * 1000:.0f} ms" for m in states))
        start(f"ping -{version} -c1 -W1 {silent}")
        incomplete = in_state(leaf, requests, family, silent, "incomplete")
        assert incomplete, "no INCOMPLETE"
        save(f"neigh-v{version}-incomplete", f"ping -{version} -c1 {silent}; dump", [incomplete],
             "from a dump: the first INCOMPLETE is not notified")
        events.collect(lambda m: m.is_neighbor(silent, "failed"), 10)
        events.record(f"neigh-v{version}-permanent",
                      f"ip neigh replace {silent} lladdr {HOST_MAC} dev br0 nud permanent",
                      lambda m: m.is_neighbor(silent, "permanent"))
        events.record(f"neigh-v{version}-deleted", f"ip neigh del {silent} dev br0",
                      lambda m: m.is_neighbor(silent, kind=DELNEIGH),
                      only=lambda m: m.is_neighbor(silent) or m.is_neighbor(silent, kind=DELNEIGH),
                      note="a valid entry first turns FAILED without MAC, then goes")
        events.record(f"neigh-v{version}-noarp-ext-learned",
                      f"ip neigh replace {silent} lladdr {HOST_MAC} dev br0 nud noarp extern_learn protocol 201",
                      lambda m: m.is_neighbor(silent, "noarp"))
        events.record(f"neigh-v{version}-stale-ext-learned",
                      f"ip neigh replace {silent} lladdr {HOST_MAC} dev br0 nud stale extern_learn protocol 201",
                      lambda m: m.is_neighbor(silent, "stale"))
        sh(f"ip neigh del {silent} dev br0")
        events.record(f"neigh-v{version}-managed",
                      f"ip neigh replace {silent} dev br0 managed protocol 201",
                      lambda m: m.is_neighbor(silent), note="NDA_FLAGS_EXT is 1 (NTF_EXT_MANAGED)")
        sh(f"ip neigh del {silent} dev br0")
        leaf.on_hosts("ip link set hswp1 arp on; sysctl -qw net.ipv4.conf.hswp1.arp_ignore=0; "
                      "ip -6 addr add fd00:0:0:1::5/64 dev hswp1 nodad")
        sh(f"ip neigh flush dev br0; ping -{version} -c1 -W1 {host}")
    sh("ip neigh add proxy 10.0.0.77 dev br0 protocol 201")
    save("dump-proxy-v4", "ip neigh add proxy 10.0.0.77 dev br0 protocol 201; dump with NTF_PROXY",
         requests.dump(GETNEIGH, ndmsg(socket.AF_INET, flags=8)))


def story_neighbor_gc(leaf, events):
    """The collector's delete: a STALE entry, idle, over gc_thresh1 (counted for all namespaces)."""
    sh("ip link add d0 index 20 type veth peer name d0p; ip link set d0 up; ip link set d0p up;"
       "ip addr add 10.9.0.1/16 dev d0")
    write_sysctl("ipv4/neigh/d0/gc_stale_time", 1)
    write_sysctl("ipv4/neigh/d0/base_reachable_time_ms", 1000)
    batch = "\n".join(f"neigh replace 10.9.{i // 250}.{i % 250 + 2} lladdr 02:00:00:00:09:01 dev d0 nud stale"
                      for i in range(200))
    subprocess.run(["ip", "-batch", "-"], input=batch, text=True, check=True)
    events.record("neigh-v4-collected", "200 idle STALE entries, gc_stale_time 1 s",
                  lambda m: m.type == DELNEIGH and m.family == socket.AF_INET, timeout=90,
                  run=lambda: None, note="RTM_DELNEIGH that still carries STALE and the MAC")


def story_fdb(leaf, events):
    leaf.bridge()
    leaf.port("swp1", 11, "10.0.0.5/16")
    leaf.port("swp2", 12, "10.0.0.6/16", mac="02:00:00:00:06:01")
    events.record("fdb-port-own-address", "ip link set swp1 master br0",
                  lambda m: m.type == NEWNEIGH and m.family == AF_BRIDGE,
                  only=lambda m: m.type == NEWNEIGH and m.family == AF_BRIDGE,
                  note="PERMANENT: the port's own MAC, not a host")
    sh("ip link set swp2 master br0")
    time.sleep(0.3)
    sh("bridge fdb flush dev swp1 2>/dev/null", check=False)
    of_host = lambda m: m.is_fdb(HOST_MAC) or m.is_fdb(HOST_MAC, DELNEIGH)
    sh(f"bridge fdb del {HOST_MAC} dev swp1 master 2>/dev/null", check=False)
    sh("ip neigh flush dev br0")
    talk = "on the host: ping 10.0.0.1"
    speak = lambda: leaf.on_hosts("ping -c1 -W1 -I hswp1 10.0.0.1", check=False)
    events.record("fdb-learned", talk, lambda m: m.is_fdb(HOST_MAC), run=speak)
    # The MAC moves: the same frame source on the other port.
    leaf.on_hosts("ip link set hswp1 down; ip link set hswp1 address 02:00:00:00:05:02 up")
    events.drain()
    speak()
    events.drain()
    events.record("fdb-moved", "the host's MAC speaks on swp2, last heard on swp1",
                  lambda m: m.is_fdb("02:00:00:00:05:02"),
                  only=lambda m: m.is_fdb("02:00:00:00:05:02") or m.is_fdb("02:00:00:00:05:02", DELNEIGH),
                  run=lambda: leaf.on_hosts("ip link set hswp1 address 02:00:00:00:05:03; "
                                            "ip link set hswp2 address 02:00:00:00:05:02; "
                                            "ping -c1 -W1 -I hswp2 10.0.0.1", check=False),
                  note="one RTM_NEWNEIGH with the new port, no delete before it")
    leaf.on_hosts(f"ip link set hswp1 address {HOST_MAC}; ip link set hswp2 address 02:00:00:00:06:01")
    speak()
    events.record("fdb-flushed", "ip link set swp1 type bridge_slave fdb_flush",
                  lambda m: m.is_fdb(HOST_MAC, DELNEIGH))
    speak()
    sh("ip link set br0 type bridge ageing_time 100")
    events.record("fdb-aged", "ip link set br0 type bridge ageing_time 100; (1 s passes)",
                  lambda m: m.is_fdb(HOST_MAC, DELNEIGH), timeout=30, run=lambda: None)
    sh("ip link set br0 type bridge ageing_time 30000")
    speak()
    time.sleep(0.2)
    seen = events.record("fdb-carrier-lost", "on the peer: ip link set hswp1 down",
                         lambda m: m.is_link("swp1") and m.attributes.get(IFLA_CARRIER) == b"\0",
                         only=lambda m: of_host(m) or (m.type == NEWLINK and m.name == "swp1"),
                         run=lambda: leaf.on_hosts("ip link set hswp1 down"),
                         note="the order as it came: the FDB delete is first")
    for message in seen:
        print(f"  carrier lost: {message.age * 1000:8.2f} ms {message}")
    leaf.on_hosts("ip link set hswp1 up")
    time.sleep(0.3)
    events.record("fdb-static", f"bridge fdb replace {HOST_MAC} dev swp1 master static",
                  lambda m: m.is_fdb(HOST_MAC), note="NUD_NOARP: set by someone, never aged")
    events.record("fdb-ext-learned", "bridge fdb replace 02:00:00:00:07:01 dev swp1 master dynamic extern_learn",
                  lambda m: m.is_fdb("02:00:00:00:07:01"))
    events.record("fdb-self", "bridge fdb add 02:00:00:00:07:02 dev swp1 self permanent",
                  lambda m: m.is_fdb("02:00:00:00:07:02"),
                  note="NTF_SELF: the device's own filter, no bridge entry")
    speak()
    requests = Requests()
    save("dump-fdb", "bridge fdb show", requests.dump(GETNEIGH, ndmsg(AF_BRIDGE)))
    save("dump-fdb-of-bridge", "bridge fdb show br br0",
         requests.dump(GETNEIGH, ndmsg(AF_BRIDGE, attributes=attribute(9, struct.pack("=I", 10)))),
         "NDA_MASTER narrows the dump to one bridge")
    events.record("fdb-port-deleted", "ip link del swp1",
                  lambda m: m.is_link("swp1", DELLINK),
                  only=lambda m: of_host(m) or (m.type in (NEWLINK, DELLINK) and m.name == "swp1"))


def story_addresses(leaf, events):
    leaf.bridge(address=None)
    for version, prefix in (("4", "10.0.0.1/16"), ("6", "fd00:0:0:1::1/64")):
        nodad = " nodad" if version == "6" else ""
        events.record(f"addr-v{version}-new", f"ip addr add {prefix} dev br0{nodad}",
                      lambda m: m.type == NEWADDR and m.index == 10)
        sh(f"ip addr add {prefix} dev lo{nodad}; ip addr del {prefix} dev lo")
    events.record("addr-v4-peer", "ip addr add 10.9.9.1 peer 10.9.9.2/32 dev br0",
                  lambda m: m.type == NEWADDR and m.index == 10,
                  note="IFA_LOCAL is ours, IFA_ADDRESS the far end's")
    save("dump-addresses", "ip addr show", Requests().dump(GETADDR, ifaddrmsg()))
    for version, prefix in (("4", "10.0.0.1/16"), ("6", "fd00:0:0:1::1/64")):
        events.record(f"addr-v{version}-deleted", f"ip addr del {prefix} dev br0",
                      lambda m: m.type == DELADDR and m.index == 10)


def story_answers(leaf, events):
    leaf.bridge()
    leaf.port("swp1", 11, "10.0.0.5/16")
    sh("ip link set swp1 master br0; ping -c1 -W1 10.0.0.5")
    requests = Requests()
    mac = attribute(2, bytes.fromhex(HOST_MAC.replace(":", "")))
    to = attribute(1, socket.inet_aton("10.0.0.50"))
    write = 0x400 | 0x100 | NLM_ACK  # Create, replace.
    save("ack", "RTM_NEWNEIGH 10.0.0.50", [requests.ask(
        NEWNEIGH, write, ndmsg(socket.AF_INET, 10, NUD["stale"], 0x10, to + mac))])
    save("error-no-device", "RTM_NEWNEIGH on ifindex 999", [requests.ask(
        NEWNEIGH, write, ndmsg(socket.AF_INET, 999, NUD["stale"], 0, to + mac))],
         "NLM_F_ACK_TLVS and NLMSGERR_ATTR_MSG, if the kernel has words")
    save("error-short-destination", "RTM_NEWNEIGH with a 2-byte NDA_DST", [requests.ask(
        NEWNEIGH, write, ndmsg(socket.AF_INET, 10, NUD["stale"], 0,
                               attribute(1, b"\x0a\0") + mac))])
    save("error-bad-lladdr", "RTM_NEWNEIGH with a 3-byte NDA_LLADDR", [requests.ask(
        NEWNEIGH, write, ndmsg(socket.AF_INET, 10, NUD["stale"], 0, to + attribute(2, b"\1\2\3")))])
    save("error-strict-header", "RTM_GETNEIGH dump with ndm_state set", requests.dump(
        GETNEIGH, ndmsg(socket.AF_INET, 0, NUD["stale"])))
    save("error-strict-attribute", "RTM_GETNEIGH dump with NDA_LLADDR", requests.dump(
        GETNEIGH, ndmsg(socket.AF_INET, attributes=mac)))
    save("error-no-such-link", "RTM_GETLINK of ifindex 999", [requests.ask(
        GETLINK, NLM_ACK, ifinfo(index=999))])
    save("error-uncapped", "RTM_GETLINK of ifindex 999, without NETLINK_CAP_ACK", [
        Requests(cap_ack=False).ask(GETLINK, NLM_ACK, ifinfo(index=999))],
         "errors carry the whole request before the attributes")
    long = attribute(IFLA_IFNAME, b"x" * 20)
    save("error-bad-attribute", "RTM_NEWLINK with a 20-byte IFLA_IFNAME", [requests.ask(
        NEWLINK, NLM_ACK, ifinfo(index=11, attributes=long))],
         "NLMSGERR_ATTR_OFFS points at the attribute")
    save("link-read", "RTM_GETLINK swp1", [requests.ask(
        GETLINK, 0, ifinfo(index=11, attributes=SKIP_STATS))])
    save("dump-links", "ip link show", requests.dump(GETLINK, ifinfo(attributes=SKIP_STATS)))
    save("dump-bridge-ports", "ip link show master br0", requests.dump(
        GETLINK, ifinfo(attributes=SKIP_STATS + attribute(IFLA_MASTER, struct.pack("=I", 10)))),
         "NLM_F_DUMP_FILTERED is set")
    sh("ip -6 addr add fd00:0:0:1::1/64 dev br0 nodad")
    leaf.on_hosts("ip -6 addr add fd00:0:0:1::5/64 dev hswp1 nodad")
    sh("ping -6 -c1 -W2 fd00:0:0:1::5")
    save("dump-neigh-v4", "ip -4 neigh show nud all", requests.dump(GETNEIGH, ndmsg(socket.AF_INET)))
    save("dump-neigh-v6", "ip -6 neigh show nud all", requests.dump(GETNEIGH, ndmsg(socket.AF_INET6)))
    save("dump-empty", "RTM_GETNEIGH dump of an interface without neighbours", requests.dump(
        GETNEIGH, ndmsg(socket.AF_INET, attributes=attribute(8, struct.pack("=I", 999)))),
         "only NLMSG_DONE")


def story_tables(leaf, events):
    leaf.bridge()
    requests = Requests()
    body = struct.pack("=BxH", 0, 0)
    datagrams = requests.dump(GETNEIGHTBL, body)
    save("dump-neigh-tables", "ip ntable show", [
        b"".join(m.raw for d in datagrams for m in split(d)
                 if m.type != NEWNEIGHTBL or b"br0" not in m.raw)],
         "thresholds and entries are those of the machine; one datagram made of several")


def story_sockets(leaf, events):
    """Rows of sock_diag for BGP's port: IPv4, IPv6, and IPv4 accepted by an IPv6 socket."""
    server = socket.create_server(("::", 179), family=socket.AF_INET6, dualstack_ipv6=True)
    kept = [server] + [socket.create_connection((address, 179)) for address in ("::1", "127.0.0.3")]
    kept += [server.accept() for _ in range(2)]
    other = socket.create_server(("127.0.0.1", 2000))
    kept += [other, socket.create_connection(("127.0.0.1", 2000))]
    for version, family in (("4", socket.AF_INET), ("6", socket.AF_INET6)):
        diag = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)
        body = struct.pack("=BBBxI48x", family, socket.IPPROTO_TCP, 0, 1 << 1 | 1 << 2 | 1 << 3)
        diag.send(struct.pack("=HHII", SOCK_DIAG, NLM_REQUEST | NLM_DUMP, 1, 0).join(
            [struct.pack("=I", 16 + len(body)), body]))
        datagrams = [diag.recv(1 << 16)]
        while all(m.type != NLMSG_DONE for m in split(datagrams[-1])):
            datagrams.append(diag.recv(1 << 16))
        save(f"dump-tcp-v{version}", "BGP sessions to ::1 and 127.0.0.3, accepted by one IPv6 "
             "socket, another to port 2000; dump of SYN_SENT, SYN_RECV, ESTABLISHED", datagrams, routing=False)


def story_interrupted(leaf, events):
    batch = "\n".join(f"link add i{i} type veth peer name j{i}" for i in range(60))
    subprocess.run(["ip", "-batch", "-"], input=batch, text=True, check=True)
    requests = Requests()
    change = lambda count: sh(f"ip link del i{count}", check=False) if count < 5 else None
    datagrams = requests.dump(GETLINK, ifinfo(attributes=SKIP_STATS), between=change)
    flagged = [d for d in datagrams if any(m.flags & NLM_DUMP_INTR for m in split(d))]
    assert flagged, "no dump was interrupted"
    flagged_message = next(m for d in flagged for m in split(d) if m.flags & NLM_DUMP_INTR)
    done = list(split(datagrams[-1]))[-1]
    save("dump-links-interrupted", "RTM_GETLINK dump while links are deleted",
         [flagged_message.raw, done.raw],
         f"{len(datagrams)} datagrams, {sum(bool(m.flags & NLM_DUMP_INTR) for d in datagrams for m in split(d))}"
         f" messages flagged; here the first of them and the end")


# --- Stories for a kernel with VLAN, bond, VRF and nlmon ----------------------------------------

def story_vlan(leaf, events):
    record = events.record
    record("link-bridge-vlan-new", "ip link add bridge index 10 type bridge vlan_filtering 1 vlan_default_pvid 1",
           lambda m: m.is_link("bridge"))
    sh("ip link set bridge address 02:00:00:00:00:01 up")
    leaf.port("swp1", 11, "10.0.0.5/16")
    leaf.port("swp2", 12)
    sh("ip link set swp1 master bridge; ip link set swp2 master bridge")
    sh("bridge vlan add dev bridge vid 100 self; bridge vlan add dev swp1 vid 100 pvid untagged")
    record("link-vlan-svi-new", "ip link add link bridge name Vlan100 index 13 type vlan id 100",
           lambda m: m.is_link("Vlan100"))
    record("link-vlan-svi-up", "ip link set Vlan100 up", lambda m: m.is_link("Vlan100"))
    sh("ip addr add 10.0.0.1/16 dev Vlan100")
    time.sleep(0.3)
    speak = lambda: leaf.on_hosts("ping -c1 -W2 10.0.0.1", check=False)
    of_host = lambda m: m.is_fdb(HOST_MAC) or m.is_fdb(HOST_MAC, DELNEIGH)
    sh("ip link set swp1 type bridge_slave fdb_flush")
    record("fdb-vlan-learned", "on the host: ping 10.0.0.1",
           lambda m: m.is_fdb(HOST_MAC) and 5 in m.attributes, run=speak)
    save("dump-fdb-vlan", "bridge fdb show", Requests().dump(GETNEIGH, ndmsg(AF_BRIDGE)))
    events.drain()
    record("neigh-v4-on-svi", "ping 10.0.0.5", lambda m: m.is_neighbor("10.0.0.5", "reachable"),
           run=lambda: sh("ip neigh flush dev Vlan100; ping -c1 -W2 10.0.0.5"))
    record("fdb-vlan-carrier-lost", "on the peer: ip link set hswp1 down",
           lambda m: m.is_link("swp1") and m.attributes.get(IFLA_CARRIER) == b"\0",
           only=lambda m: of_host(m) or (m.type == NEWLINK and m.name == "swp1"),
           run=lambda: leaf.on_hosts("ip link set hswp1 down"))
    record("link-vlan-svi-carrier-lost", "on the other peer as well: ip link set hswp2 down",
           lambda m: m.is_link("Vlan100"), only=lambda m: m.type == NEWLINK and m.name in ("bridge", "Vlan100"),
           run=lambda: leaf.on_hosts("ip link set hswp2 down"),
           note="the SVI follows the bridge, which follows its last port")
    save("dump-links-vlan", "ip link show", Requests().dump(GETLINK, ifinfo(attributes=SKIP_STATS)))
    leaf.on_hosts("ip link add link hswp1 name far7 type vlan id 7")
    record("link-vlan-lower-elsewhere", "ip link set far7 netns LEAF, a VLAN on an interface over there",
           lambda m: m.is_link("far7"),
           run=lambda: leaf.on_hosts(f"ip link set far7 netns {os.getpid()}"),
           note="IFLA_LINK is an index of namespace IFLA_LINK_NETNSID")
    record("link-vlan-svi-deleted", "ip link del Vlan100", lambda m: m.is_link("Vlan100", DELLINK))


def story_bond(leaf, events):
    for mode, name, index in (("802.3ad", "PortChannel1", 30), ("active-backup", "bond1", 40)):
        tag = "lacp" if mode == "802.3ad" else "backup"
        events.record(f"link-bond-{tag}-new", f"ip link add {name} type bond mode {mode} miimon 100",
                      lambda m: m.is_link(name),
                      run=lambda: sh(f"ip link add {name} index {index} address 02:00:00:00:00:{index:02x} "
                                     f"type bond mode {mode} miimon 100"))
        members = [f"m{index + 1}", f"m{index + 2}"]
        for offset, member in enumerate(members, 1):
            leaf.port(member, index + offset)
        # The far end, so that LACP has a partner.
        leaf.on_hosts(f"ip link add far{index} type bond mode {mode} miimon 100")
        for member in members:
            leaf.on_hosts(f"ip link set h{member} down; ip link set h{member} master far{index}")
        leaf.on_hosts(f"ip link set far{index} up")
        sh(f"ip link set {members[0]} down; ip link set {members[1]} down")
        of_bond = lambda m: m.type in (NEWLINK, DELLINK) and m.name in (name, *members)
        events.record(f"link-bond-{tag}-member-joins", f"ip link set {members[0]} master {name}",
                      lambda m: m.is_link(members[0]) and IFLA_MASTER in m.attributes)
        sh(f"ip link set {members[1]} master {name}")
        events.record(f"link-bond-{tag}-up", f"ip link set {name} up",
                      lambda m: m.is_link(name) and m.attributes.get(IFLA_CARRIER) == b"\1", timeout=10)
        if mode == "802.3ad":
            # IFLA_INFO_SLAVE_DATA tells the actor's and partner's port state; wait for an aggregate.
            end = time.monotonic() + 20
            while "LOWER_UP" not in sh(f"ip link show {name}").stdout and time.monotonic() < end:
                time.sleep(0.2)
            time.sleep(4)
        save(f"link-bond-{tag}-read", f"RTM_GETLINK {name}", [Requests().ask(
            GETLINK, 0, ifinfo(index=index, attributes=SKIP_STATS))])
        save(f"link-bond-{tag}-member-read", f"RTM_GETLINK {members[0]}", [Requests().ask(
            GETLINK, 0, ifinfo(index=index + 1, attributes=SKIP_STATS))])
        for count, member in enumerate(members):
            last = count == 1
            watched = name if last else member
            seen = events.record(
                f"link-bond-{tag}-" + ("last-member-down" if last else "member-down"),
                f"on the peer: ip link set h{member} down",
                lambda m: m.is_link(watched) and m.attributes.get(IFLA_CARRIER) == b"\0", timeout=10,
                only=of_bond, run=lambda: leaf.on_hosts(f"ip link set h{member} down"))
            for message in seen:
                if of_bond(message):
                    print(f"  {mode} {member} down: {message.age * 1000:8.2f} ms {message}")
        events.record(f"link-bond-{tag}-member-leaves", f"ip link set {members[0]} nomaster",
                      lambda m: m.is_link(members[0]) and IFLA_MASTER not in m.attributes)
        events.record(f"link-bond-{tag}-deleted", f"ip link del {name}",
                      lambda m: m.is_link(name, DELLINK))


def story_vrf(leaf, events):
    events.record("link-vrf-new", "ip link add Vrf-red index 50 type vrf table 1001",
                  lambda m: m.is_link("Vrf-red"))
    sh("ip link set Vrf-red up")
    leaf.bridge("br50", 51, None)
    events.record("link-bridge-joins-vrf", "ip link set br50 master Vrf-red",
                  lambda m: m.is_link("br50") and IFLA_MASTER in m.attributes)
    leaf.port("swp5", 52)
    events.record("link-port-joins-vrf", "ip link set swp5 master Vrf-red",
                  lambda m: m.is_link("swp5") and IFLA_MASTER in m.attributes)
    sh("ip link add br60 index 54 type bridge; ip link set br60 up")
    sh("ip link add link br60 name Vlan200 index 53 type vlan id 200; ip link set Vlan200 up")
    events.record("link-vlan-svi-joins-vrf", "ip link set Vlan200 master Vrf-red",
                  lambda m: m.is_link("Vlan200") and IFLA_MASTER in m.attributes)
    events.record("link-port-leaves-vrf", "ip link set swp5 nomaster",
                  lambda m: m.is_link("swp5") and IFLA_MASTER not in m.attributes)
    events.record("link-vrf-deleted", "ip link del Vrf-red",
                  lambda m: m.is_link("Vrf-red", DELLINK),
                  only=lambda m: m.type in (NEWLINK, DELLINK) and m.name in ("Vrf-red", "br50"))
    events.record("link-dummy-new", "ip link add d0 index 60 type dummy", lambda m: m.is_link("d0"))
    sh("ip link set d0 up")
    events.record("link-dummy-carrier-lost", "ip link set d0 carrier off",
                  lambda m: m.is_link("d0") and m.attributes.get(IFLA_CARRIER) == b"\0")
    sh("ip link add mv0 index 61 link d0 type macvlan")
    events.record("link-macvlan-up", "ip link set mv0 up", lambda m: m.is_link("mv0"))


def story_requests(leaf, events):
    """What iproute2 asks, seen by nlmon: another implementation's requests."""
    leaf.bridge()
    sh("ip link add nlmon0 type nlmon; ip link set nlmon0 up")
    monitor = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    monitor.bind(("nlmon0", 0))
    monitor.settimeout(0.3)
    for name, command, kind in (
            ("neigh-stale-ext-learned", f"ip neigh replace 10.0.0.50 lladdr {HOST_MAC} dev br0 nud stale extern_learn protocol 201", NEWNEIGH),
            ("neigh-v6-stale-ext-learned", f"ip neigh replace fd00:0:0:1::50 lladdr {HOST_MAC} dev br0 nud stale extern_learn protocol 201", NEWNEIGH),
            ("neigh-probe", f"ip neigh replace 10.0.0.50 lladdr {HOST_MAC} dev br0 nud probe protocol 201", NEWNEIGH),
            ("neigh-delete", "ip neigh del 10.0.0.50 dev br0", DELNEIGH),
            ("proxy-add", "ip neigh add proxy 10.0.0.77 dev br0 protocol 201", NEWNEIGH),
            ("proxy-delete", "ip neigh del proxy 10.0.0.77 dev br0", DELNEIGH),
            ("link-down", "ip link set br0 down", NEWLINK),
            ("link-up", "ip link set br0 up", NEWLINK),
            ("links", "ip link show", GETLINK),
            ("addresses", "ip addr show", GETADDR),
            ("neigh-v4", "ip -4 neigh show nud all", GETNEIGH),
            ("neigh-v6", "ip -6 neigh show nud all", GETNEIGH),
            ("fdb", "bridge fdb show", GETNEIGH),
            ("proxy-delay", "ip ntable change name arp_cache dev br0 proxy_delay 0", SETNEIGHTBL),
            ("proxy-qlen", "ip ntable change name arp_cache dev br0 proxy_queue 500", SETNEIGHTBL)):
        sh(command)
        datagrams = []
        try:
            while True:
                datagrams.append(monitor.recv(1 << 16))
        except socket.timeout:
            pass
        wanted = [m.raw for d in datagrams for m in split(d)
                  if m.type == kind and m.flags & NLM_REQUEST]
        if not wanted:
            raise RuntimeError(f"{command}: no request seen")
        save(f"request-{name}", command, [wanted[-1]] if kind != GETADDR else [wanted[0]],
             "the request of " + sh("ip -V").stdout.strip())


# --- Measurements (printed, not saved) ----------------------------------------------------------

def open_taps(names):
    """Taps stand for a switch's ports: like a NIC they have no lower device."""
    taps = []
    for name in names:
        tap = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(tap, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x1002))  # TUNSETIFF
        taps.append(tap)
    return taps


def story_latency(leaf, events):
    """How late RTM_NEWLINK without carrier comes: one link alone, and eight, 30 ms apart."""
    count, gap = 8, 0.03
    leaf.bridge()
    requests = Requests()

    def measure(kind, names, cut):
        # A read may itself make the kernel catch up (linkwatch_sync_dev), hence with and without.
        for burst, reads in ((1, False), (count, False), (count, True)) if len(names) == count else (
                (1, False), (1, True)):
            time.sleep(2.5)
            events.drain()
            lost, ages = {}, {}
            shown = 0
            watcher, seen = events.watch(3.5 + burst * 0.5)
            for name in names[:burst]:
                cut(name, False)
                lost[name] = time.monotonic()
                if reads:
                    link = Message(requests.ask(GETLINK, 0, ifinfo(attributes=SKIP_STATS + attribute(
                        IFLA_IFNAME, name.encode() + b"\0"))))
                    shown += not struct.unpack_from("=I", link.raw, 24)[0] & 0x10000
                time.sleep(gap if burst > 1 else 0)
            watcher.join()
            for at, message in seen:
                gone = message.attributes.get(IFLA_CARRIER) == b"\0"
                if message.type == NEWLINK and message.family == 0 and gone:
                    ages.setdefault(message.name, (at - lost[message.name]) * 1000 if message.name in lost else 0)
            print(f"  {kind:24} x{burst}: notified " +
                  " ".join(f"{ages[n]:.0f}" if n in ages else "-" for n in names[:burst]) +
                  " ms after the cut" + (f"; {shown} of {burst} shown by a read at once" if reads else ""))
            sys.stdout.flush()
            for name in names[:burst]:
                cut(name, True)

    def of_peer(name, up):
        leaf.on_hosts(f"ip link set h{name} " + ("up" if up else "down"))

    veths = [f"v{i}" for i in range(count)]
    for position, name in enumerate(veths):
        leaf.port(name, 100 + position)
        sh(f"ip link set {name} master br0")
    measure("veth bridge port", veths, of_peer)
    measure("bridge, all ports cut", ["br0"], lambda _, up: leaf.on_hosts(
        "; ".join(f"ip link set h{name} " + ("up" if up else "down") for name in veths)))
    taps = [f"t{i}" for i in range(count)]
    descriptors = dict(zip(taps, open_taps(taps)))
    for name in taps:
        sh(f"ip link set {name} master br0; ip link set {name} up")

    def set_tap(name, up):
        fcntl.ioctl(descriptors[name], 0x400454E2, struct.pack("I", int(up)))  # TUNSETCARRIER

    measure("tap bridge port", taps, set_tap)
    if sh("ip link add bond9 type bond mode active-backup miimon 100 2>/dev/null", check=False).returncode:
        return  # This kernel has no bonds, so it has none of the rest.
    for name in taps:
        sh(f"ip link set {name} down; ip link set {name} nomaster; ip link set {name} master bond9")
    sh("ip link set bond9 up")
    measure("tap bond member", taps, set_tap)
    measure("bond, all members cut", ["bond9"], lambda _, up: [set_tap(name, up) for name in taps])
    dummies = [f"d{i}" for i in range(count)]

    def set_dummy(name, up):
        sh(f"ip link set {name.split('.')[0]} carrier " + ("on" if up else "off"))

    for name in dummies:
        sh(f"ip link add {name} type dummy; ip link set {name} up")
    measure("dummy", dummies, set_dummy)
    vlans = [f"{name}.100" for name in dummies]
    for name in dummies:
        sh(f"ip link add link {name} name {name}.100 type vlan id 100; ip link set {name}.100 up")
    measure("VLAN on a dummy", vlans, set_dummy)


HOST_STORIES = [story_links, story_neighbors, story_neighbor_gc, story_fdb, story_addresses,
                story_answers, story_tables, story_sockets, story_interrupted]
VM_STORIES = [story_vlan, story_bond, story_vrf, story_requests]


def play(story):
    """Each story in its own process, for each moves into a namespace of its own."""
    child = os.fork()
    if child == 0:
        code = 1
        leaf = Leaf()
        try:
            story(leaf, Events())
            code = 0
        except Exception as error:  # A story that fails must not end the others.
            print(f"{story.__name__}: {type(error).__name__} {error}", file=sys.stderr)
        finally:
            leaf.close()
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def main():
    global OUT
    stories = {story.__name__.removeprefix("story_"): story for story in [*HOST_STORIES, *VM_STORIES, story_latency]}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("story", nargs="*", default=["host"],
                        help="host (any kernel), vm (VLAN, bond, VRF, nlmon), or: " + " ".join(stories))
    arguments = parser.parse_args()
    OUT = arguments.out
    OUT.mkdir(parents=True, exist_ok=True)
    chosen = []
    for name in arguments.story:
        chosen += {"host": HOST_STORIES, "vm": VM_STORIES}.get(name) or [stories[name]]
    failed = []
    for story in chosen:
        print(story.__name__)
        sys.stdout.flush()
        if not play(story):
            failed.append(story.__name__)
    if failed:
        sys.exit("failed: " + " ".join(failed))


if __name__ == "__main__":
    main()
