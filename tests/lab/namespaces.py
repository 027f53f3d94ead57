# SPDX-License-Identifier: Apache-2.0
"""Namespaces of one node: network, mounts and host name, held by one sleeping process.

The node sees the machine's files, but has a `/run` of its own and copy-on-write layers over `/etc`, `/var/lib` and
`/var/log`, so that what it writes there is gone with it and nobody else sees it. From outside its files are under
`/proc/<holder>/root`.
"""

import ctypes
import os
import shlex
import socket
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from .errors import LabError
from .topology import Bind

T = TypeVar("T")
_CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)

_SETUP = """
set -e
hostname {hostname}
mount -t sysfs sysfs /sys
ip link set lo up
mount -t tmpfs -o mode=755 tmpfs /run
for d in etc var/lib var/log; do
    mkdir -p /run/.lab/$d/upper /run/.lab/$d/work
    mount -t overlay -o lowerdir=/$d,upperdir=/run/.lab/$d/upper,workdir=/run/.lab/$d/work overlay /$d
done
mkdir -p /run/planed /run/redis /etc/planed /var/lib/planed
{extra}
echo ready
exec sleep infinity </dev/null >/dev/null 2>&1
"""


@dataclass(frozen=True)
class Holder:
    """The process that keeps a node's namespaces alive."""

    process: subprocess.Popen[str]

    @staticmethod
    def start(hostname: str, binds: tuple[Bind, ...], sysctls: dict[str, str], extra: str = "") -> "Holder":
        """Returns at once; `wait_ready` tells when the namespaces are as they should be."""
        lines = [_bind_line(bind) for bind in binds] + [_sysctl_line(k, v) for k, v in sysctls.items()] + [extra]
        script = _SETUP.format(hostname=shlex.quote(hostname), extra="\n".join(lines))
        command = ["unshare", "--net", "--mount", "--uts", "--propagation", "private", "/bin/sh", "-c", script]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # A ^C at the terminal must reach the test, not the namespaces.
        )
        return Holder(process=process)

    @property
    def pid(self) -> int:
        return self.process.pid

    def wait_ready(self, node: str) -> None:
        assert self.process.stdout and self.process.stderr
        if self.process.stdout.readline() != "ready\n":
            raise LabError(f"{node}: namespaces cannot be made: {self.process.stderr.read().strip()}")
        self.process.stdout.close()
        self.process.stderr.close()


def enter_command(pid: int, argv: list[str]) -> list[str]:
    """`argv` in the namespaces of `pid`; it replaces nsenter, so the pid of what is started is argv's own."""
    return ["nsenter", "--target", str(pid), "--net", "--mount", "--uts", "--root", "--wd", "--", *argv]


def call_inside(pid: int, function: Callable[[], T]) -> T:
    """Runs `function` in a thread of this process that is in the network namespace of `pid`, and only there."""
    result: list[T] = []
    failure: list[BaseException] = []

    def body() -> None:
        try:
            _set_network_namespace(pid)
            result.append(function())
        except BaseException as error:  # noqa: B902  It is raised again where it can be seen.
            failure.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return result[0]


def socket_inside(pid: int, family: int, kind: int, protocol: int = 0) -> socket.socket:
    """A socket belongs to the namespace that its thread was in when it was made, whoever uses it later."""
    return call_inside(pid, lambda: socket.socket(family, kind, protocol))


def _set_network_namespace(pid: int) -> None:
    descriptor = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if _LIBC.setns(descriptor, _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"setns into {pid}")
    finally:
        os.close(descriptor)


def _bind_line(bind: Bind) -> str:
    source, target = shlex.quote(str(bind.source)), shlex.quote(bind.target)
    parent = shlex.quote(str(Path(bind.target).parent))
    make = f"mkdir -p {target}" if bind.source.is_dir() else f"mkdir -p {parent}; [ -e {target} ] || : > {target}"
    read_only = f"; mount -o remount,bind,ro {target}" if bind.read_only else ""
    return f"{make}; mount --bind {source} {target}{read_only}"


def _sysctl_line(key: str, value: str) -> str:
    return f"echo {shlex.quote(value)} > {shlex.quote(sysctl_path(key))}"


def sysctl_path(key: str) -> str:
    """`net.ipv4.conf.eth0/100.forwarding` → its file: dots separate, a slash stands for a dot, as sysctl(8) has it."""
    return "/proc/sys/" + key.translate(str.maketrans("./", "/."))
