# SPDX-License-Identifier: Apache-2.0
"""What planed is told is on disk, and is decided again from there."""

import json
import subprocess
from pathlib import Path
from typing import Any

from farm import READY, Farm, prefixes_of, quick, settle
from lab import wait_until
from lab.planed import binary
from support.fake_zebra import FakeZebra

_RECORDING = "/var/lib/planed/recording"


def _replay(file: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(binary()), "--replay", str(file)], capture_output=True, text=True, check=False)


def _routes(printed: str) -> list[dict[str, Any]]:
    decisions = [json.loads(line) for line in printed.splitlines()]
    return [decision for decision in decisions if decision["output"] == "SendRoute"]


def test_what_is_recorded_is_decided_again(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(8)
    farm.learn(servers)
    planed = farm.start_planed(args=["--record", _RECORDING])
    settle(zebra, prefixes_of(servers))
    farm.cut("swp1")
    lost = [server for server in servers if server.port == "swp1"]
    settle(zebra, prefixes_of(servers) - prefixes_of(lost))
    assert planed.stop() == 0

    done = _replay(farm.leaf.path(_RECORDING))

    assert (done.returncode, done.stderr.strip().rpartition(", ")[2]) == (0, "as recorded"), done.stderr
    routes = _routes(done.stdout)
    assert {route["key"]["prefix"] for route in routes if "put" in route} == prefixes_of(servers)
    assert {route["key"]["prefix"] for route in routes if "put" not in route} == prefixes_of(lost)
    assert farm.leaf.path(_RECORDING).stat().st_mode & 0o777 == 0o640


def test_killed_planed_leaves_what_it_was_told_until_then(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(8)
    farm.learn(servers)
    planed = farm.start_planed(args=["--record", _RECORDING])
    settle(zebra, prefixes_of(servers))
    file = farm.leaf.path(_RECORDING)
    wait_until(lambda: '"RouteAnswered"' in file.read_text(), quick(5), what="nothing of zebra's answers is written")
    planed.kill()
    told = len(planed.log())
    planed.start()
    planed.wait_log(READY, quick(10), since=told)
    planed.stop()

    before, after = _replay(file.with_name("recording.1")), _replay(file)

    assert (before.returncode, after.returncode) == (0, 0), before.stderr + after.stderr
    assert {route["key"]["prefix"] for route in _routes(before.stdout)} == prefixes_of(servers)


def test_recording_that_cannot_begin_is_an_error(farm: Farm, zebra: FakeZebra) -> None:
    for path, why in (("/nowhere/recording", "cannot write /nowhere/recording: No such file"),
                      ("/dev/null", "cannot write /dev/null: it is no regular file")):  # fmt: skip
        planed = farm.start_planed(args=["--record", path])
        assert planed.wait(quick(5)) == 1
        assert why in planed.log()


def test_recording_that_finds_no_room_ends_and_planed_goes_on(farm: Farm, zebra: FakeZebra) -> None:
    farm.leaf.run(["mkdir", "-p", "/mnt"])
    farm.leaf.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/mnt"])
    servers = farm.make_hosts(200)
    farm.learn(servers)
    planed = farm.start_planed(args=["--record", "/mnt/recording"])

    planed.wait_log(r'record\.ended .*text="cannot write: No space left on device"', quick(10))

    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, quick(10))
    assert planed.stop() == 0


def test_damaged_recording_is_said_with_its_line(farm: Farm, tmp_path: Path) -> None:
    (tmp_path / "recording").write_text("no recording\n")

    done = _replay(tmp_path / "recording")

    assert (done.returncode, done.stdout) == (1, "")
    assert f"{tmp_path}/recording:1: is no JSON object" in done.stderr
    assert "cannot read" in _replay(tmp_path / "absent").stderr
