# SPDX-License-Identifier: Apache-2.0
"""What a lab has made, on disk, so that whoever comes later can remove exactly that and nothing else.

A lab's folder holds `state.json`, written before each thing is made. A process is recorded with its start time,
for a pid alone may be somebody else's by the time it is read; a lab is dead when the process that owns it is gone,
unless it was brought up to stay.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .errors import LabError


def root() -> Path:
    """Where all labs of this machine keep their files."""
    return Path(os.environ.get("PLANED_LAB_STATE", "/run/planed-lab"))


@dataclass(frozen=True)
class Process:
    """A process that cannot be taken for another: pid and start time (in clock ticks since boot)."""

    pid: int
    started: int

    @staticmethod
    def of(pid: int) -> "Process":
        return Process(pid=pid, started=_start_time(pid))

    @property
    def alive(self) -> bool:
        return _start_time(self.pid) == self.started != 0


@dataclass
class LabState:
    """The record of one lab."""

    name: str
    topology: str
    frr: str
    owner: Process
    keep: bool = False
    netns: dict[str, str] = field(default_factory=dict)  # node → name under /run/netns
    holders: dict[str, Process] = field(default_factory=dict)  # node → the process that holds its namespaces

    @property
    def folder(self) -> Path:
        return root() / self.name

    @property
    def alive(self) -> bool:
        return any(holder.alive for holder in self.holders.values()) if self.keep else self.owner.alive

    def write(self) -> None:
        """Atomic: a reader sees the record before or after, never half of it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / "state.json.new"
        temporary.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        temporary.rename(self.folder / "state.json")

    @staticmethod
    def read(name: str) -> "LabState | None":
        try:
            raw: dict[str, Any] = json.loads((root() / name / "state.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        raw["owner"] = Process(**raw["owner"])
        raw["holders"] = {node: Process(**process) for node, process in raw["holders"].items()}
        return LabState(**raw)


def all_labs() -> list[LabState]:
    names = sorted(p.parent.name for p in root().glob("*/state.json"))
    return [lab for name in names if (lab := LabState.read(name))]


@contextmanager
def locked() -> Iterator[None]:
    """One process at a time decides which labs are alive; else two could clear or claim the same name."""
    root().mkdir(parents=True, exist_ok=True)
    with open(root() / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def claim(state: LabState) -> None:
    """Takes the lab's name, after everything that dead labs have left behind is removed."""
    with locked():
        for lab in all_labs():
            if not lab.alive:
                remove(lab)
            elif lab.name == state.name:
                raise LabError(f"lab {lab.name} is up already (pid {lab.owner.pid}); take it down first")
        state.write()


def remove(lab: LabState) -> None:
    """Ends what runs in the lab's namespaces, then takes the namespaces and the folder away."""
    _end_processes(lab)
    for name in lab.netns.values():
        subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)
    shutil.rmtree(lab.folder, ignore_errors=True)


def _end_processes(lab: LabState) -> None:
    inodes = _network_namespaces(lab)
    for _ in range(50):  # What forks while we look is found by the next look.
        pids = _pids_in(inodes)
        pids |= {holder.pid for holder in lab.holders.values() if holder.alive}
        if not pids:
            return
        for pid in pids:
            _kill(pid)
        time.sleep(0.02)
    raise LabError(f"lab {lab.name}: processes that do not end: {sorted(_pids_in(inodes))}")


def _network_namespaces(lab: LabState) -> set[int]:
    """Inodes of the namespaces that this lab made; never the machine's own."""
    inodes = set()
    for node, name in lab.netns.items():
        holder = lab.holders.get(node)
        paths = [f"/run/netns/{name}"] + ([f"/proc/{holder.pid}/ns/net"] if holder and holder.alive else [])
        for path in paths:
            try:
                inodes.add(os.stat(path).st_ino)
            except OSError:
                pass  # Not made yet, or gone with its last process.
    return inodes - {os.stat("/proc/self/ns/net").st_ino}


def _pids_in(inodes: set[int]) -> set[int]:
    if not inodes:
        return set()
    found = set()
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            if os.stat(f"/proc/{entry}/ns/net").st_ino in inodes and _state_letter(int(entry)) != "Z":
                found.add(int(entry))
        except OSError:
            pass  # Ended while we looked.
    return found


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, os.WNOHANG)
    except (ProcessLookupError, ChildProcessError):
        pass  # Gone already, or not our child: then init reaps it.


def _stat_fields(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()  # The command's name may hold blanks and brackets.


def _start_time(pid: int) -> int:
    fields = _stat_fields(pid)
    return int(fields[19]) if fields and fields[0] != "Z" else 0


def _state_letter(pid: int) -> str:
    fields = _stat_fields(pid)
    return fields[0] if fields else ""
