# SPDX-License-Identifier: Apache-2.0
"""The service manager's end of NOTIFY_SOCKET."""

import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import wait_until


@dataclass(frozen=True)
class Message:
    """One datagram: its assignments, when it came, and what `look()` saw in that moment."""

    at: float
    fields: dict[str, str]
    seen: Any = None


class NotifySocket:
    """Remembers all that comes; `look` is called with each message."""

    def __init__(self, path: Path, look: Callable[[], Any] = lambda: None) -> None:
        self.path = path
        self.look = look
        self.messages: list[Message] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        path.chmod(0o777)
        self._thread = threading.Thread(target=self._run, name="manager", daemon=True)

    def __enter__(self) -> "NotifySocket":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own:
            own.sendto(b"", str(self.path))
        self._thread.join()
        self._socket.close()

    def environment(self, watchdog: float | None = None) -> dict[str, str]:
        """What systemd would put into the service's environment."""
        usec = {} if watchdog is None else {"WATCHDOG_USEC": str(int(watchdog * 1e6))}
        return {"NOTIFY_SOCKET": str(self.path), **usec}

    def with_field(self, name: str, since: float = 0.0) -> list[Message]:
        return [message for message in self.messages if name in message.fields and message.at >= since]

    def wait_for(self, name: str, deadline: float = 5.0, since: float = 0.0) -> Message:
        wait_until(lambda: self.with_field(name, since), deadline, what=f"no {name} in {self.messages}")
        return self.with_field(name, since)[0]

    @property
    def status(self) -> str:
        """The last one."""
        told = self.with_field("STATUS")
        return told[-1].fields["STATUS"] if told else ""

    def _run(self) -> None:
        while data := self._socket.recv(65536):
            fields = dict(line.split("=", 1) for line in data.decode().splitlines())
            self.messages.append(Message(time.monotonic(), fields, self.look()))
