# SPDX-License-Identifier: Apache-2.0
"""Much, long, and with nobody listening: memory stays flat and the loop runs."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from farm import BRIDGE, READY, Farm, Server, assert_idle, is_sanitized, prefixes_of, quick, settle
from lab import Planed, wait_until
from lab.planed import binary
from support import rtnl
from support.fake_zebra import FakeZebra

_SMALL_QUARANTINE = {"ASAN_OPTIONS": "quarantine_size_mb=1"}


def _cycle(farm: Farm, zebra: FakeZebra, servers: list[Server]) -> None:
    farm.learn(servers, state=rtnl.PERMANENT)
    settle(zebra, prefixes_of(servers), deadline=15)
    farm.unlearn(servers)
    settle(zebra, set(), deadline=15)


def test_5000_hosts_that_come_and_go_ten_times_leave_no_memory_behind(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(2500)
    planed = farm.start_planed(env=_SMALL_QUARANTINE)
    planed.wait_log(READY, 5)
    for _ in range(3):
        _cycle(farm, zebra, servers)
    settled = planed.resident_bytes()

    for _ in range(7):
        _cycle(farm, zebra, servers)

    grown = planed.resident_bytes() - settled
    assert grown < (16 << 20 if is_sanitized() else 1 << 20), f"{grown >> 10} KiB more after seven cycles"


def test_hosts_with_ever_new_addresses_leave_no_memory_behind(farm: Farm, zebra: FakeZebra) -> None:
    planed = farm.start_planed(env=_SMALL_QUARANTINE)
    planed.wait_log(READY, 5)
    sizes = []

    for number in range(10):
        _cycle(farm, zebra, farm.make_hosts(2000, first=1 + 2000 * number))
        sizes.append(planed.resident_bytes())

    grown = sizes[-1] - sizes[2]
    assert grown < (16 << 20 if is_sanitized() else 1 << 20), [size >> 10 for size in sizes]


def test_1000_hosts_at_rest_cost_no_processor(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(500)
    farm.learn(servers, state=rtnl.PERMANENT)
    planed = farm.start_planed()
    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 5)
    time.sleep(2)

    assert_idle(planed, seconds=5, share=0.005)


# ---- nobody reads what it says ----


@pytest.fixture
def start_raw(farm: Farm) -> Callable[..., "subprocess.Popen[str]"]:
    """planed with its output as the test wants it."""

    def start(*by: str, **streams: int) -> "subprocess.Popen[str]":
        Path(farm.leaf.path("/etc/planed/planed.yaml")).write_text(
            f"interfaces: [{{name: {BRIDGE}}}]\nroutes: {{max_withdraw: {{share: 100%}}}}\n", encoding="utf-8"
        )
        command = [*by, str(binary()), "--log-level", "trace"]
        return farm.leaf.popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **streams)

    return start


def _works_and_ends(farm: Farm, zebra: FakeZebra, process: "subprocess.Popen[str]") -> None:
    """1,000 lines of log must not hold up one route, nor the end."""
    servers = farm.make_hosts(500)
    wait_until(lambda: zebra.sessions, 5)
    farm.learn(servers, state=rtnl.PERMANENT)
    settle(zebra, prefixes_of(servers), deadline=3)
    farm.unlearn(servers)
    settle(zebra, set(), deadline=3)
    begun = time.monotonic()
    process.terminate()
    try:
        assert process.wait(10) == 0
    finally:
        process.kill()
    assert time.monotonic() - begun < quick(1.5)


def test_output_that_is_closed_disturbs_nothing(
    farm: Farm, zebra: FakeZebra, start_raw: Callable[..., "subprocess.Popen[str]"]
) -> None:
    process = start_raw("sh", "-c", 'exec "$@" >&- 2>&-', "sh")

    _works_and_ends(farm, zebra, process)


def test_output_into_a_full_device_disturbs_nothing(
    farm: Farm, zebra: FakeZebra, start_raw: Callable[..., "subprocess.Popen[str]"]
) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    process = start_raw(stdout=full, stderr=full)
    os.close(full)

    _works_and_ends(farm, zebra, process)


def _full_pipe() -> tuple[int, int]:
    read, write = os.pipe()
    os.set_blocking(write, False)
    while True:
        try:
            os.write(write, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(write, True)
            return read, write


def test_state_is_written_though_nobody_reads_what_it_says(
    farm: Farm, zebra: FakeZebra, start_raw: Callable[..., "subprocess.Popen[str]"]
) -> None:
    read, write = _full_pipe()
    process = start_raw(stdout=write, stderr=write)
    os.close(write)
    servers = farm.make_hosts(20)
    wait_until(lambda: zebra.sessions, 5)
    farm.learn(servers)
    settle(zebra, prefixes_of(servers))

    file = farm.leaf.path("/var/lib/planed/state")
    try:
        wait_until(lambda: file.exists() and servers[0].mac in file.read_text(encoding="utf-8"), quick(2))
    finally:
        process.kill()
        process.wait()
        os.close(read)


@pytest.mark.parametrize("reader", ["asleep", "gone"])
def test_output_into_a_pipe_that_nobody_reads_disturbs_nothing(
    farm: Farm, zebra: FakeZebra, start_raw: Callable[..., "subprocess.Popen[str]"], reader: str
) -> None:
    read, write = _full_pipe() if reader == "asleep" else os.pipe()
    process = start_raw(stdout=write, stderr=write)
    os.close(write)
    if reader == "gone":
        os.close(read)

    _works_and_ends(farm, zebra, process)


def test_descriptors_do_not_leak_over_ten_sessions(farm: Farm, zebra: FakeZebra) -> None:
    planed: Planed = farm.start_planed()
    planed.wait_log(READY, 5)
    descriptors = len(os.listdir(f"/proc/{planed.pid}/fd"))

    for _ in range(10):
        sessions = len(zebra.connections)
        zebra.restart()
        wait_until(lambda: len(zebra.connections) > sessions, 15)  # noqa: B023

    wait_until(lambda: zebra.sessions == 1, 35)
    assert len(os.listdir(f"/proc/{planed.pid}/fd")) <= descriptors
