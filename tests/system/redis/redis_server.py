# SPDX-License-Identifier: Apache-2.0
"""A redis-server of the test's own, in a node: its folder, its socket, its process. No other Redis is ever touched."""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lab import wait_until
from lab.node import Node

STATE_DB = 6


class Redis:
    """On a unix socket and, with a `port`, on TCP in the node. It saves nothing by itself."""

    def __init__(self, node: Node, socket: str, port: int = 0) -> None:
        self._node = node
        self.socket = socket
        self._port = port
        self._folder = node.path(socket).parent
        self._process: "subprocess.Popen[str] | None" = None

    def start(self, *options: str) -> "Redis":
        self._folder.mkdir(parents=True, exist_ok=True)
        self._node.path(self.socket).unlink(missing_ok=True)
        log = open(self._folder / f"{Path(self.socket).stem}.log", "a", encoding="utf-8")
        argv = ["redis-server", "--port", str(self._port), "--unixsocket", self.socket, "--save", "", "--databases", "100"]
        argv += ["--dir", str(Path(self.socket).parent), "--daemonize", "no", *options]
        with log:
            self._process = self._node.popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self.answers, 10, what=f"redis-server on {self.socket}")
        return self

    def kill(self) -> None:
        """As a crash: nothing is written, the socket's file stays."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def send_signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def answers(self) -> bool:
        result = self._node.run(["redis-cli", "-s", self.socket, "ping"], check=False)
        return result.stdout.strip() == "PONG" or "NOAUTH" in result.stdout

    def cli(self, *words: str, database: int = STATE_DB, stdin: str | None = None) -> str:
        argv = ["redis-cli", "-s", self.socket, "-n", str(database), *words]
        return self._node.run(argv, input=stdin).stdout.rstrip("\n")

    def keys(self, pattern: str = "PLANED_*", database: int = STATE_DB) -> set[str]:
        return set(self.cli("--scan", "--pattern", pattern, database=database).split())

    def row(self, key: str, database: int = STATE_DB) -> dict[str, str]:
        lines = self.cli("hgetall", key, database=database).split("\n")
        return dict(zip(lines[::2], lines[1::2]))

    def rows(self, database: int = STATE_DB) -> dict[str, dict[str, str]]:
        return {key: self.row(key, database) for key in self.keys(database=database)}


Make = Callable[..., Redis]


def config(redis: dict[str, Any] | str, served: Sequence[str] = ("Vlan100",)) -> dict[str, Any]:
    """A leaf that serves these and mirrors there."""
    wanted = {"endpoint": redis} if isinstance(redis, str) else redis
    return {"node": {"name": "leaf-a1", "plane": "A"}, "interfaces": [{"name": name} for name in served], "redis": wanted}
