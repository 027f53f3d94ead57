# SPDX-License-Identifier: Apache-2.0
"""Which FRR runs in the nodes, and how its daemons are started and stopped there.

Release 8.4 is the one that Debian 12 has installed. Release 10.3 is Debian 13's: its daemons live in a cached chroot
(`frr-chroot` makes it) whose `/run` and `/etc/frr` are the node's. Either way a daemon is a child of the lab in the
node's namespaces, started with the options of the node's `/etc/frr/daemons` and configured by `vtysh -b`, as FRR's own
start script does.
"""

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .errors import LabError
from .vty import Vty, VtyError
from .wait import wait_until

_CHROOT_SCRIPT = Path(__file__).with_name("frr-chroot")
_ALWAYS = ("mgmtd", "zebra")  # Started whatever the file says; mgmtd exists from FRR 9 on.
_START_SECONDS = 20.0
_BUSY = "locked by another session"  # FRR 10's mgmtd, now and then, just after its start; loading again is harmless.


@dataclass(frozen=True)
class Release:
    """One FRR on this machine: where its files are, and what a node needs to run it."""

    name: str
    root: str  # "" for the machine's own

    @property
    def lib(self) -> str:
        return f"{self.root}/usr/lib/frr"

    @property
    def prefix(self) -> list[str]:
        """What comes before a command line of this FRR, inside a node."""
        return ["chroot", self.root] if self.root else []

    def setup(self) -> str:
        """Shell lines that prepare a fresh node's mounts for this FRR."""
        user, group = _ids(self.root, "frr")
        lines = [
            "mount -t tmpfs -o mode=1777 tmpfs /var/tmp",  # Where each FRR daemon leaves a folder behind.
            f"install -d -o {user} -g {group} -m 755 /run/frr",
            "[ -d /etc/frr ] || mkdir /etc/frr",
            f"chown {user}:{group} /etc/frr && chmod 755 /etc/frr",
        ]
        return "\n".join(lines + (self._chroot_setup(user, group) if self.root else []))

    def _chroot_setup(self, user: int, group: int) -> list[str]:
        root = shlex.quote(self.root)
        wrapper = f'#!/bin/sh\nexec chroot {root} /usr/bin/vtysh "$@"\n'
        return [
            *(f"mount --rbind /{d} {root}/{d}" for d in ("dev", "proc", "sys", "run", "etc/frr", "var/tmp")),
            f"mkdir -p {root}/var/lib/frr && mount -t tmpfs tmpfs {root}/var/lib/frr",
            f"chown {user}:{group} {root}/var/lib/frr",
            f"printf '%s' {shlex.quote(wrapper)} > /run/.lab/vtysh && chmod 755 /run/.lab/vtysh",
            "mount --bind /run/.lab/vtysh /usr/bin/vtysh",
        ]


def release(name: str, progress: Callable[[str], None] = lambda _: None) -> Release:
    """The release of that name, made ready if need be; LabError if this machine cannot have it."""
    if name == "8.4":
        _check_version("", name)
        return Release(name=name, root="")
    if name == "10.3":
        root = chroot_path(name)
        if not (root / "usr/lib/frr/zebra").exists():
            progress(f"making the chroot with FRR {name} in {root} (about 15 s, once)")
            _run_chroot_script(name)
        return Release(name=name, root=str(root))
    raise LabError(f"FRR {name}: only 8.4 and 10.3 are known")


def chroot_path(name: str) -> Path:
    """Where the cached chroot of a release is, or will be."""
    return Path(os.environ.get("PLANED_LAB_CACHE", "/var/cache/planed-lab")) / f"frr-{name}"


def _run_chroot_script(name: str) -> None:
    done = subprocess.run([str(_CHROOT_SCRIPT), name], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise LabError(f"FRR {name}: {done.stderr.strip() or done.stdout.strip()}")


def _check_version(root: str, wanted: str) -> None:
    zebra = f"{root}/usr/lib/frr/zebra"
    try:
        text = subprocess.run([zebra, "--version"], check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise LabError(f"FRR {wanted} is not installed (tests/deps lab installs it): {error}") from error
    if not re.search(rf"\bversion {re.escape(wanted)}\b", text):
        raise LabError(f"FRR {wanted} is wanted, this machine's is: {text.splitlines()[0]}")


def _ids(root: str, user: str) -> tuple[int, int]:
    for line in Path(f"{root}/etc/passwd").read_text(encoding="utf-8").splitlines():
        fields = line.split(":")
        if fields[0] == user:
            return int(fields[2]), int(fields[3])
    raise LabError(f"{root or '/'} has no user {user}: is frr installed there?")


class Daemons:
    """The FRR daemons of one node."""

    def __init__(
        self,
        node: str,
        the_release: Release,
        node_root: Path,
        logs: Path,
        popen: Callable[..., "subprocess.Popen[str]"],
    ) -> None:
        self._node = node
        self._release = the_release
        self._root = node_root
        self._logs = logs
        self._popen = popen
        self._running: dict[str, subprocess.Popen[str]] = {}

    @property
    def pids(self) -> dict[str, int]:
        return {name: process.pid for name, process in self._running.items() if process.poll() is None}

    def configured(self) -> list[str]:
        """The daemons that the node's `/etc/frr/daemons` asks for, in the order they must start in."""
        chosen = _parse_daemons(self._root / "etc/frr/daemons")
        always = [name for name in _ALWAYS if Path(self._release.lib, name).exists()]
        asked = [name for name, value in chosen.items() if value == "yes" and name.isalnum()]  # Not vtysh_enable.
        return always + [name for name in asked if name not in _ALWAYS]

    def start_all(self) -> None:
        for name in self.configured():
            self._spawn(name)
        for name in self._running:
            self._wait_vty(name)
        self._load("")

    def stop_all(self, sig: int = signal.SIGINT) -> None:
        """zebra last, as FRR's script does; then the others can still withdraw their routes."""
        for name in sorted(self._running, key=_ALWAYS.__contains__):
            self.stop(name, sig)

    def start(self, name: str) -> None:
        self._spawn(name)
        self._wait_vty(name)
        self._load(name)

    def stop(self, name: str, sig: int = signal.SIGINT, timeout: float = 15.0) -> None:
        """Returns when the daemon is gone. One that has ended by itself is fine too."""
        process = self._running.pop(name, None)
        if process is None:
            raise LabError(f"{self._node}: {name} is not running")
        if process.poll() is None:
            process.send_signal(sig)
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise LabError(f"{self._node}: {name} did not end within {timeout:g} s of signal {sig}") from None

    def log(self, name: str) -> str:
        return (self._logs / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def vty(self, name: str) -> Vty:
        return Vty(str(self._root / f"run/frr/{name}.vty"))

    def _spawn(self, name: str) -> None:
        options = shlex.split(_parse_daemons(self._root / "etc/frr/daemons").get(f"{name}_options", ""))
        command = [*self._release.prefix, f"/usr/lib/frr/{name}", *options, "--log", "stdout"]
        (self._root / f"run/frr/{name}.vty").unlink(missing_ok=True)  # A killed daemon leaves its socket.
        with open(self._logs / f"{name}.log", "a", encoding="utf-8") as log:
            self._running[name] = self._popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        if name == "zebra":  # The others ask again only after 10 s if its socket is not there yet.
            self._wait_vty(name)

    def _wait_vty(self, name: str) -> None:
        def answers() -> bool:
            if self._running[name].poll() is not None:
                raise LabError(f"{self._node}: {name} ended at once: {self.log(name)[-1000:]}")
            try:
                with self.vty(name):
                    return True
            except VtyError:
                return False

        wait_until(answers, _START_SECONDS, what=f"{self._node}: {name} does not answer")

    def _load(self, daemon: str) -> None:
        """`vtysh -b` prints what a daemon refuses; a lab with half a configuration is worse than none."""
        command = ["vtysh", "-b", *(["-d", daemon] if daemon else [])]

        def loaded() -> bool:
            process = self._popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            output = process.communicate(timeout=60)[0]
            if _BUSY in output:
                return False
            complaints = [line for line in output.splitlines() if "%" in line or "rror" in line]
            if process.returncode != 0 or complaints:
                raise LabError(f"{self._node}: vtysh -b: {output.strip()}")
            return True

        wait_until(loaded, _START_SECONDS, every=0.1, what=f"{self._node}: vtysh -b: {_BUSY}")


def _parse_daemons(path: Path) -> dict[str, str]:
    """`name=value` lines of FRR's daemons file, which is shell that nobody writes as shell."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {"bgpd": "yes"}
    pairs = (line.split("#")[0].partition("=") for line in text.splitlines() if "=" in line.split("#")[0])
    values = {key.strip(): value.strip().strip('"') for key, _, value in pairs}
    return {key: value for key, value in values.items() if value}


