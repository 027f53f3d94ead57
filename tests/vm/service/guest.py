#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A service's life under systemd, from dpkg --install to --purge. Runs in the VM as root: it changes the whole machine."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

HOST, MAC, SERVED = "10.0.0.5", "02:00:00:00:00:05", "Vlan100"
CONFIG = Path("/etc/planed/planed.yaml")
GOOD = f"interfaces: [{{name: {SERVED}}}]\nredis: {{endpoint: off}}\nroutes: {{tag: %d}}\n"
NET_ADMIN, NET_RAW = 1 << 12, 1 << 13
# A database of its own: reading the one of a machine with a thousand packages takes dpkg 15 s in here.
DPKG = "dpkg --admindir=/run/dpkg --force-depends --force-confold"
SLOW = 60.0  # Seconds; code runs 10 to 20 times slower in here.


def sh(command: str, check: bool = True) -> str:
    done = subprocess.run(command, shell=True, check=False, text=True, capture_output=True)
    if check and done.returncode != 0:
        sys.exit(f"FAILED: {command}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def code(command: str) -> int:
    return subprocess.run(command, shell=True, check=False, capture_output=True).returncode


def shown(name: str, unit: str = "planed") -> str:
    return sh(f"systemctl show --value -p {name} {unit}").strip()


def expect(claim: str, truth: object, seen: object = "") -> None:
    if not truth:
        print(sh("journalctl -u planed -u frr --no-pager -n 60 -o cat; systemctl status planed --no-pager", check=False))
        sys.exit(f"FAILED: {claim}: {seen}")
    print(f"  ok  {claim}{f': {seen}' if seen != '' else ''}", flush=True)


def wait(what: str, true: Callable[[], object], deadline: float = SLOW) -> float:
    begun = time.monotonic()
    while not true():
        if time.monotonic() > begun + deadline:
            expect(f"{what} within {deadline:g} s", False)
        time.sleep(0.1)
    return time.monotonic() - begun


def main_pid() -> int:
    return int(shown("MainPID"))


def age(pid: int) -> float:
    """Seconds since this process began."""
    ticks = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def zebras_route() -> dict[str, object]:
    said = json.loads(sh(f"vtysh -c 'show ip route {HOST}/32 json'") or "{}")
    return said.get(f"{HOST}/32", [{}])[0]


class RouteWatch:
    """The kernel's own account of a route that left, however short."""

    def __init__(self) -> None:
        self._file = open("/tmp/routes", "w+", encoding="utf-8")
        self._process = subprocess.Popen(["ip", "monitor", "route"], stdout=self._file)

    def end(self) -> list[str]:
        self._process.terminate()
        self._process.wait()
        self._file.seek(0)
        return [line.strip() for line in self._file if line.startswith("Deleted") and HOST in line]


def prepare_leaf() -> None:
    sh(f"ip link add {SERVED} type bridge && ip addr add 10.0.0.1/16 dev {SERVED} && ip link set {SERVED} up")
    sh("ip link add swp1 type veth peer name server && ip link set server up && ip link set swp1 up")
    sh(f"ip link set swp1 master {SERVED}")
    sh(f"bridge fdb replace {MAC} dev swp1 master static")
    sh(f"ip neigh replace {HOST} lladdr {MAC} dev {SERVED} nud permanent")


def install(package: Path) -> None:
    for folder in ("info", "updates", "triggers"):
        Path("/run/dpkg", folder).mkdir(parents=True, exist_ok=True)
    Path("/run/dpkg/status").touch()
    sh(f"{DPKG} --install {package}")
    expect("installed, neither enabled nor running", shown("ActiveState") == "inactive" and shown("UnitFileState") == "disabled")
    expect("group planed", code("getent group planed") == 0)
    expect("the configuration as shipped serves nothing", code("/usr/sbin/planed --check") == 0)


def start() -> None:
    CONFIG.write_text(GOOD % 100, encoding="utf-8")
    sh("systemctl start frr")
    expect("the distribution's FRR", re.search(r"[0-9.]+", sh("vtysh -c 'show version' | head -1"))[0])
    sh("systemctl enable --now planed")
    route = zebras_route()  # At once: `systemctl start` returns with READY.
    expect("started: READY with the route in zebra", route.get("protocol") == "babel" and route.get("installed"), HOST)
    expect("status", shown("StatusText") == "Ready; host routes: 1", shown("StatusText"))


def sandbox() -> None:
    status = Path(f"/proc/{main_pid()}/status").read_text(encoding="utf-8")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    for capabilities in ("CapEff", "CapPrm", "CapBnd"):
        expect(f"{capabilities} is NET_ADMIN, NET_RAW", int(fields[capabilities], 16) == NET_ADMIN | NET_RAW, fields[capabilities])
    user, group = sh("id -u frr").strip(), sh("getent group planed").split(":")[2]
    expect("user frr, group planed", fields["Uid"].split()[1] == user and fields["Gid"].split()[1] == group)
    bound = shown("Requires") + shown("BindsTo") + shown("PartOf")
    expect("FRR's and Redis' restarts are none of planed's", "frr" not in bound and "redis" not in bound)
    expect("no new privileges, seccomp", fields["NoNewPrivs"] == "1" and fields["Seccomp"] == "2")
    for file in ("ipv4/neigh/%s/proxy_delay", "ipv4/conf/%s/proxy_arp", "ipv6/conf/%s/accept_untracked_na"):
        ours = Path("/proc/sys/net", file % SERVED).read_text(encoding="utf-8").strip()
        default = Path("/proc/sys/net", file % "default").read_text(encoding="utf-8").strip()
        expect(f"written: {file % SERVED}", ours != default, f"{default} -> {ours}")
    inside = f"nsenter -m -t {main_pid()} -- sh -c"
    expect("/proc/sys/net is writable inside", code(f"{inside} 'cat /proc/sys/net/core/somaxconn >/proc/sys/net/core/somaxconn'") == 0)
    for file in ("/proc/sys/vm/swappiness", "/proc/sys/kernel/core_pattern"):
        expect(f"{file} is not", code(f"{inside} 'cat {file} >{file}'") != 0)
    expect("nor is /usr or /etc", code(f"{inside} 'touch /usr/x'") != 0 and code(f"{inside} 'touch /etc/x'") != 0)
    listing = sh("stat -c '%U:%G %a %n' /var/lib/planed /run/planed").splitlines()
    expect("folders", listing == ["frr:planed 750 /var/lib/planed", "frr:planed 750 /run/planed"], "; ".join(listing))


def reload() -> None:
    pid = main_pid()
    CONFIG.write_text(GOOD % 77, encoding="utf-8")
    sh("systemctl reload planed")
    wait("the new tag in zebra", lambda: zebras_route().get("tag") == 77)
    expect("reloaded in place", main_pid() == pid and shown("ActiveState") == "active")
    CONFIG.write_text("interfaces: 7\n", encoding="utf-8")
    expect("a wrong file makes the reload fail", code("systemctl reload planed") != 0)
    expect("the earlier one is in force", zebras_route().get("tag") == 77 and main_pid() == pid and shown("ActiveState") == "active")
    os.kill(pid, signal.SIGHUP)
    wait("refused", lambda: "configuration refused, faults: 1" in shown("StatusText"))
    expect("a bare SIGHUP says so in the status", True, shown("StatusText"))
    CONFIG.write_text(GOOD % 77, encoding="utf-8")
    sh("systemctl reload planed")
    wait("status is well again", lambda: shown("StatusText") == "Ready; host routes: 1")


def restart() -> None:
    pid = main_pid()
    sh("systemctl restart planed")
    expect("restarted by hand", main_pid() != pid and zebras_route().get("installed"))


def hang() -> None:
    pid = main_pid()
    wait("an age beyond WatchdogSec", lambda: age(pid) > 17)
    expect("an idle loop outlives the watchdog's period", shown("NRestarts") == "0")
    os.kill(pid, signal.SIGSTOP)
    took = wait("the watchdog's restart", lambda: main_pid() not in (0, pid) and shown("ActiveState") == "active")
    expect("a loop that hangs is ended and started again", True, f"after {took:.0f} s (WatchdogSec=15s)")
    expect("the journal names the watchdog", "Watchdog timeout" in sh("journalctl -u planed --no-pager -o cat"))
    expect("once", shown("NRestarts") == "1")


def kill() -> None:
    pid = main_pid()
    os.kill(pid, signal.SIGKILL)
    wait("restart after SIGKILL", lambda: main_pid() not in (0, pid) and shown("ActiveState") == "active")
    expect("killed and started again", True)


def refuse() -> None:
    CONFIG.write_text("interfaces: 7\n", encoding="utf-8")
    expect("a start with a wrong file fails", code("systemctl restart planed") != 0)
    expect("and is not tried again", shown("ActiveState") == "failed" and shown("ExecMainStatus") == "2", "exit 2")
    expect("zebra keeps the route meanwhile", zebras_route().get("installed"))
    CONFIG.write_text(GOOD % 77, encoding="utf-8")
    sh("systemctl start planed")


def upgrade(package: Path) -> None:
    pid = main_pid()
    sh(f"{DPKG} --install {package}")
    wait("restart by the upgrade", lambda: main_pid() not in (0, pid) and shown("ActiveState") == "active")
    expect("upgraded: the new one runs, still enabled", shown("UnitFileState") == "enabled" and zebras_route().get("installed"))
    expect("configuration kept", CONFIG.read_text(encoding="utf-8") == GOOD % 77)


def purge() -> None:
    sh(f"{DPKG} --purge planed")
    expect("purged: stopped, and nothing left", not any(Path(p).exists() for p in ("/etc/planed", "/var/lib/planed", "/run/planed")))
    expect("no unit", shown("LoadState") == "not-found", shown("LoadState"))
    links = sh("find /etc/systemd -name 'planed*'")
    expect("no link", links == "", links)


def run(step: Callable[[], None], name: str = "") -> None:
    print(f"{name or step.__name__} ({time.clock_gettime(time.CLOCK_BOOTTIME):.0f} s since boot)", flush=True)
    step()


def main() -> None:
    old, new = sorted(Path(sys.argv[1]).glob("planed_*.deb"), key=lambda path: "upgraded" in path.name)
    steps: list[Callable[[], None]] = [sandbox, reload, hang, kill, restart, refuse]
    prepare_leaf()
    run(lambda: install(old), "install")
    run(start)
    watch = RouteWatch()
    for step in steps:
        run(step)
    run(lambda: upgrade(new), "upgrade")
    expect("from start to upgrade the kernel never lost the route", (lost := watch.end()) == [], lost or "")
    run(purge)
    print("all seen")


if __name__ == "__main__":
    main()
