# SPDX-License-Identifier: Apache-2.0
"""What planed keeps on disk: who else uses it, what is damaged, what cannot be written, and what it is good for."""

import re
import time
from pathlib import Path

import pytest
from farm import BRIDGE, READY, Farm, prefixes_of, quick, settle
from lab import holds_for, wait_until
from support.fake_zebra import FakeZebra

_DIR = "/var/lib/planed"


def _file(farm: Farm) -> Path:
    return farm.leaf.path(f"{_DIR}/state")


def _written(farm: Farm, mac: str) -> bool:
    return _file(farm).exists() and mac in _file(farm).read_text(encoding="utf-8")


def test_second_planed_refuses_with_the_pid_of_the_first_and_disturbs_nothing(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(10)
    farm.learn(servers)
    first = farm.start_planed()
    settle(zebra, prefixes_of(servers))
    first.wait_log(READY, 5)
    mark = zebra.mark()

    second = farm.start_planed()

    assert second.wait(quick(5)) == 1
    assert re.search(rf"\b{first.pid}\b", second.log()), second.log()
    assert "zapi.up" not in second.log() and first.alive
    assert zebra.since(mark, "ROUTE_ADD", "ROUTE_DELETE") == []
    first.stop()
    third = farm.start_planed()
    third.wait_log(READY, 5)


def test_lock_of_a_planed_that_was_killed_holds_nobody_up(farm: Farm, zebra: FakeZebra) -> None:
    farm.start_planed().wait_log(READY, 5)
    farm.planed.kill()

    farm.start_planed().wait_log(READY, 5)


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 4096, b"\xff\xfe garbage", b"planed-state 1\nport Vlan100 0 02:00", b"planed-state 2\nend 0\n",
     b"planed-state 1\nport Vlan100 0 02:00:00:00:01:02 swp1\nend 7\n", b"planed-state 1\n" + b"shut swp1 " * 100_000],
    ids=["empty", "zeros", "garbage", "cut off", "another version", "wrong count", "one endless line"],
)  # fmt: skip
def test_damaged_state_file_is_told_set_aside_and_begun_anew(farm: Farm, zebra: FakeZebra, content: bytes) -> None:
    _file(farm).write_bytes(content)
    servers = farm.make_hosts(10)
    farm.learn(servers)

    planed = farm.start_planed()

    settle(zebra, prefixes_of(servers))
    planed.wait_log("error state.damaged .*text=", 2)
    assert farm.leaf.path(f"{_DIR}/state.damaged").read_bytes() == content
    wait_until(lambda: _written(farm, servers[0].mac), 2)


@pytest.mark.parametrize("how", ["read-only", "full"])
def test_state_that_cannot_be_written_is_told_and_forwarding_goes_on(farm: Farm, zebra: FakeZebra, how: str) -> None:
    if how == "full":
        farm.leaf.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", _DIR])
    planed = farm.start_planed()
    planed.wait_log(READY, 5)
    if how == "full":
        farm.leaf.run(["dd", "if=/dev/zero", f"of={_DIR}/ballast"], check=False)
    else:
        farm.leaf.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", _DIR])
    servers = farm.make_hosts(20)

    farm.learn(servers)

    settle(zebra, prefixes_of(servers))
    planed.wait_log("error state.unwritable", 3)
    if how == "full":
        farm.leaf.path(f"{_DIR}/ballast").unlink()
    else:
        farm.leaf.run(["umount", _DIR])
    farm.learn(farm.make_hosts(1, first=300))
    planed.wait_log("state.written", 3)
    wait_until(lambda: _written(farm, servers[0].mac), 2)


def test_state_dir_that_cannot_be_made_is_told_with_code_1(farm: Farm) -> None:
    farm.leaf.path("/run/plain").write_text("", encoding="utf-8")

    planed = farm.start_planed({"state_dir": "/run/plain/planed", "interfaces": [{"name": BRIDGE}]})

    assert planed.wait(quick(5)) == 1
    assert "/run/plain/planed" in planed.log()


def test_state_dir_without_right_to_write_is_told_with_code_1(farm: Farm) -> None:
    farm.leaf.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", _DIR])

    planed = farm.start_planed()

    assert planed.wait(quick(5)) == 1
    assert _DIR in planed.log()


def test_host_whose_port_went_down_while_planed_was_killed_is_not_announced_again(
    farm: Farm, zebra: FakeZebra
) -> None:
    """The kernel forgets the port with the forwarding entry, and keeps the neighbour: only the file knows."""
    servers = farm.make_hosts(40)
    dead = [server for server in servers if server.port == "swp1"]
    farm.learn(servers)
    planed = farm.start_planed()
    settle(zebra, prefixes_of(servers))
    wait_until(lambda: all(_written(farm, server.mac) for server in servers), 2)

    planed.kill()
    farm.cut("swp1")
    assert zebra.holds(*prefixes_of(servers))  # Graceful restart: zebra keeps what is there.
    mark = zebra.mark()
    farm.start_planed().wait_log(READY, 10)

    settle(zebra, prefixes_of(servers) - prefixes_of(dead), deadline=2)
    assert not {m.prefix for m in zebra.since(mark, "ROUTE_ADD")} & prefixes_of(dead)
    assert not zebra.withdrawn(mark) & (prefixes_of(servers) - prefixes_of(dead))
    farm.restore("swp1")
    farm.announce(dead)
    settle(zebra, prefixes_of(servers))


def test_kill_and_restart_in_a_row_withdraw_nothing(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(100)
    farm.learn(servers)
    farm.start_planed()
    settle(zebra, prefixes_of(servers))

    for round_ in range(5):
        farm.planed.kill()
        farm.start_planed()
        time.sleep(0.03 * round_)  # Killed at a different moment of its start each time.
        assert zebra.holds_exactly(prefixes_of(servers))
    farm.planed.wait_log(READY, 15)

    holds_for(lambda: zebra.holds_exactly(prefixes_of(servers)), 1)
    assert zebra.withdrawn() == set()


def test_host_that_died_while_planed_was_stopped_goes_with_the_restart(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(20)
    farm.learn(servers)
    planed = farm.start_planed()
    settle(zebra, prefixes_of(servers))

    planed.stop()
    assert zebra.holds_exactly(prefixes_of(servers))
    farm.unlearn(servers[:5])
    farm.start_planed().wait_log(READY, 10)

    settle(zebra, prefixes_of(servers[5:]), deadline=2)
    assert zebra.withdrawn() <= prefixes_of(servers[:5])
