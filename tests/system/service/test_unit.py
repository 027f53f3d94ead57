# SPDX-License-Identifier: Apache-2.0
"""The unit file itself, as systemd's own tools judge it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

_UNIT = Path(__file__).resolve().parents[3] / "systemd/planed.service"
_MOST_EXPOSED = 2.0

pytestmark = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")


def _exposure(unit: Path) -> float:
    said = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--no-pager", str(unit)],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", said)
    assert found, said
    return float(found.group(1))


def test_unit_is_hardly_exposed() -> None:
    assert _exposure(_UNIT) <= _MOST_EXPOSED


def test_measure_tells_a_unit_without_its_sandbox(tmp_path: Path) -> None:
    """Guards the measure itself: a unit without its sandbox is far beyond the limit."""
    bare = tmp_path / _UNIT.name
    text = _UNIT.read_text(encoding="utf-8")
    bare.write_text(re.sub(r"(?m)^(Protect|Private|Restrict|SystemCall|Capability)\w+=.*\n", "", text), encoding="utf-8")

    assert _exposure(bare) > 2 * _MOST_EXPOSED


def test_unit_has_no_line_that_systemd_does_not_know(tmp_path: Path) -> None:
    """With an ExecStart that exists: `verify` wants that too, and planed need not be installed here."""
    unit = tmp_path / _UNIT.name
    unit.write_text(_UNIT.read_text(encoding="utf-8").replace("/usr/sbin/planed", "/bin/true"), encoding="utf-8")

    said = subprocess.run(["systemd-analyze", "verify", str(unit)], check=False, capture_output=True, text=True)

    about_us = [line for line in said.stderr.splitlines() if "planed" in line]
    assert (said.returncode, about_us) == (0, [])


def test_unit_names_the_exit_code_of_a_wrong_configuration() -> None:
    assert "RestartPreventExitStatus=2" in _UNIT.read_text(encoding="utf-8").splitlines()
