# SPDX-License-Identifier: Apache-2.0
"""How many neighbours the kernel keeps: for the whole machine, and settable outside of namespaces only."""

import fcntl
from pathlib import Path


class neighbor_limits:  # noqa: N801  It reads as a function where it is used.
    """Sets net.*.neigh.default.gc_thresh1 to 3 and puts back what was there; one at a time on a machine."""

    def __init__(self, **limits: int) -> None:
        self._limits = limits
        self._found: dict[Path, str] = {}

    def __enter__(self) -> None:
        self._lock = open("/run/lock/planed-neighbor-limits", "w", encoding="utf-8")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        for version in (4, 6):
            for name, value in self._limits.items():
                file = Path(f"/proc/sys/net/ipv{version}/neigh/default/gc_{name}")
                self._found[file] = file.read_text(encoding="utf-8")
                file.write_text(str(value), encoding="utf-8")

    def __exit__(self, *_: object) -> None:
        for file, value in self._found.items():
            file.write_text(value, encoding="utf-8")
        self._lock.close()
