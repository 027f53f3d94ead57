# SPDX-License-Identifier: Apache-2.0
"""planectl in a node, from beside the planed under test."""

import json
import subprocess
from pathlib import Path
from typing import Any

from lab.node import Node
from lab.planed import binary
from openmetrics import Metrics, parse

SOCKET = "/run/planed/planed.sock"


class Ctl:
    def __init__(self, node: Node) -> None:
        self._node = node
        self.path: Path = binary().parent / "planectl"

    def run(self, *words: str, by: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
        """Whatever its exit code; `by`: a command that execs it."""
        return self._node.run([*by, str(self.path), *words], check=False)

    def text(self, *words: str) -> str:
        """What is printed by one that must go well."""
        done = self.run(*words)
        assert done.returncode == 0, f"planectl {' '.join(words)}: exit {done.returncode}: {done.stderr}"
        assert not done.stderr, done.stderr
        return done.stdout

    def json(self, *words: str) -> Any:
        return json.loads(self.text(*words, "-o", "json"))

    def metrics(self) -> Metrics:
        return parse(self.text("metrics"))

    def fails(self, code: int, *words: str) -> str:
        """The one line that says why."""
        done = self.run(*words)
        assert done.returncode == code, f"exit {done.returncode}, not {code}: {done.stdout}{done.stderr}"
        assert done.stderr.startswith("planectl: "), done.stderr
        return done.stderr

    def watch(self, *words: str) -> "subprocess.Popen[str]":
        return self._node.popen(
            [str(self.path), "watch", "-o", "jsonl", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
