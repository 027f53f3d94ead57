# SPDX-License-Identifier: Apache-2.0
"""Talks to one FRR daemon over its vty socket, without starting vtysh: 0.1 ms instead of 40 ms a command.

A command goes out with a NUL behind it; the answer ends in three NULs and one byte of status (0: done).
"""

import json
import socket
from typing import Any

_END = b"\0\0\0"
_DONE, _WARNING = 0, 1


class VtyError(Exception):
    """The daemon refused the command, or went away."""


class Vty:
    """One session. Not for use from two threads at once."""

    def __init__(self, path: str, timeout: float = 10.0) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(path)
            self.command("enable")
        except OSError as error:
            self._socket.close()
            raise VtyError(f"{path}: {error}") from error

    def command(self, line: str) -> str:
        text, status = self._exchange(line)
        if status != _DONE:
            raise VtyError(f"{line}: {text.strip() or f'status {status}'}")
        return text

    def json(self, line: str) -> Any:
        text, status = self._exchange(line)
        if status not in (_DONE, _WARNING):  # A warning is how FRR 10 says that there is nothing to show.
            raise VtyError(f"{line}: {text.strip() or f'status {status}'}")
        try:
            return json.loads(text) if text.strip() else {}
        except ValueError as error:
            raise VtyError(f"{line}: not JSON: {text[:200]}") from error

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> "Vty":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _exchange(self, line: str) -> tuple[str, int]:
        try:
            self._socket.sendall(line.encode() + b"\0")
            return self._answer()
        except OSError as error:
            raise VtyError(f"{line}: {error}") from error

    def _answer(self) -> tuple[str, int]:
        received = bytearray()
        while len(received) < 4 or received[-4:-1] != _END:
            chunk = self._socket.recv(1 << 18)
            if not chunk:
                raise VtyError("the daemon closed the session")
            received += chunk
        return received[:-4].decode(errors="replace"), received[-1]
