# SPDX-License-Identifier: Apache-2.0
"""A planed that runs in a node."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from .errors import LabError
from .wait import wait_until

REPO = Path(__file__).resolve().parents[2]


def binary() -> Path:
    """`$PLANED`, else what `cmake --preset release` builds."""
    return Path(os.environ.get("PLANED", REPO / "build/release/bin/planed"))


class Planed:
    """The daemon and its files. Its log goes on in one file over restarts, as a journal would."""

    def __init__(
        self,
        popen: Callable[..., "subprocess.Popen[str]"],
        config_file: Path,
        log_file: Path,
        args: Sequence[str],
        env: dict[str, str],
    ) -> None:
        self._popen = popen
        self._config_file = config_file
        self._log_file = log_file
        self._args = list(args)
        self._env = env
        self.process: "subprocess.Popen[str] | None" = None

    @property
    def pid(self) -> int:
        return self._started().pid

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> "Planed":
        if self.alive:
            raise LabError(f"planed runs already, pid {self.pid}")
        if not binary().exists():
            raise LabError(f"{binary()} does not exist: build it, or point PLANED to it")
        command = [str(binary()), "--config", "/etc/planed/planed.yaml", *self._args]
        with open(self._log_file, "a", encoding="utf-8") as log:
            self.process = self._popen(
                command, env=self._env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        return self

    def write_config(self, config: dict[str, Any] | str) -> None:
        """Written whole and renamed, so that a planed that reads just now never sees half a file."""
        text = config if isinstance(config, str) else yaml.safe_dump(config, sort_keys=False)
        temporary = self._config_file.with_suffix(".new")
        temporary.write_text(text, encoding="utf-8")
        temporary.rename(self._config_file)

    def send_signal(self, sig: int) -> None:
        self._started().send_signal(sig)

    def stop(self, timeout: float = 10.0) -> int:
        """SIGTERM; the exit code."""
        return self._end(signal.SIGTERM, timeout)

    def kill(self) -> int:
        return self._end(signal.SIGKILL, 5.0)

    def wait(self, timeout: float = 10.0) -> int:
        """The exit code of a planed that ends by itself."""
        try:
            return self._started().wait(timeout)
        except subprocess.TimeoutExpired:
            raise LabError(f"planed has not ended within {timeout:g} s: {self.log()[-2000:]}") from None

    def restart(self, sig: int = signal.SIGTERM) -> None:
        self._end(sig, 10.0)
        self.start()

    def log(self) -> str:
        try:
            return self._log_file.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""

    def wait_log(self, pattern: str, deadline: float = 5.0, since: int = 0) -> float:
        """Until `pattern` (a regular expression) is logged behind offset `since`; the seconds that took."""
        found = re.compile(pattern).search
        return wait_until(lambda: found(self.log()[since:]), deadline, what=f"'{pattern}' is not in {self._log_file}")

    def cpu_seconds(self) -> float:
        """User and system time used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        pages = Path(f"/proc/{self.pid}/statm").read_text(encoding="utf-8").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def _started(self) -> "subprocess.Popen[str]":
        if self.process is None:
            raise LabError("planed was not started")
        return self.process

    def _end(self, sig: int, timeout: float) -> int:
        process = self._started()
        if process.poll() is None:
            process.send_signal(sig)
        begun = time.monotonic()
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            took = time.monotonic() - begun
            raise LabError(f"planed did not end within {took:.1f} s of signal {sig}: {self.log()[-2000:]}") from None
