# SPDX-License-Identifier: Apache-2.0
"""Ten thousand hosts behind one segment, over one session. What it takes is printed; how fast planed is, tests/bench says."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dissect import UPDATE, Capture, routes_of
from lab import Node, wait_until
from planectl import Ctl
from support import rtnl
from twins import ADDRESS, AUX, Twins

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from neighbor_limits import neighbor_limits  # noqa: E402

pytestmark = [pytest.mark.one_release, pytest.mark.alone]

HOSTS = 10_000
# Instrumented planeds on a busy machine must make it; each of them needs a few seconds for so many routes.
SLOW = 30.0


@pytest.fixture(autouse=True)
def large_tables() -> Iterator[None]:
    """Both leaves' entries are in one table of the machine."""
    with neighbor_limits(thresh1=32768, thresh2=65536, thresh3=131072):
        yield


def _address(number: int) -> str:
    return f"10.0.{64 + number // 250}.{1 + number % 250}"


def _learn(leaf: Node, port: str) -> None:
    """The kernel has learnt them all, behind this port; nobody is there who answers."""
    bridge, behind = leaf.ifindex("Vlan100"), leaf.ifindex(port)
    batch = rtnl.Batch()
    for number in range(HOSTS):
        mac = f"02:00:02:00:{number >> 8:02x}:{number & 0xFF:02x}"
        batch.forwarding(behind, mac)
        batch.neighbor(bridge, _address(number), mac, rtnl.STALE)
    with rtnl.open_socket(leaf.open_socket) as channel:
        batch.send(channel)


def _wait_routes(leaf: Node, count: int) -> float:
    def holds() -> bool:
        have = len(leaf.fib_hosts(4))
        assert have == count, f"{have} routes"
        return True

    return wait_until(holds, SLOW, every=0.3, what=f"{leaf.name} has not {count} routes")


def _synced(leaf: Node) -> int:
    return next(int(row["value"]) for row in Ctl(leaf).json("counters") if row["name"] == "evpn_hosts_synced")


def _told(capture: Capture) -> list[list[bytes]]:
    """leaf-a's UPDATEs, each with its routes."""
    messages = capture.octets(ADDRESS["leaf-a"])
    return [routes_of(message) for message in messages if message[18] == UPDATE]


def test_ten_thousand_hosts_of_a_segment_come_and_go(twins: Twins, capsys: pytest.CaptureFixture[str]) -> None:
    config: dict[str, Any] = {"learning": {"refresh": "24h", "probe_interval": "100ms", "probe_attempts": 1}}
    config["routes"] = {"max_withdraw": {"share": "100%"}}  # All are dead once nobody vouches for them.
    config["interfaces"] = [{"name": "Vlan100", "max_hosts": 4 * HOSTS}]  # One port may have half of them.
    for leaf in twins.leaves:
        leaf.start_planed({**twins.config(leaf), **config})
    for leaf in twins.leaves:
        twins.wait_up(leaf)

    with Capture(twins.a, AUX) as came:
        begun = time.monotonic()
        _learn(twins.a, "swp1")
        _wait_routes(twins.a, HOSTS)
        own = time.monotonic() - begun
        _wait_routes(twins.b, HOSTS)
        both = time.monotonic() - begun
    assert _synced(twins.b) == HOSTS
    entries = [entry for entry in twins.b.neighbors("Vlan100").values() if "extern_learn" in entry]
    assert len(entries) == HOSTS and all(entry["state"] == ["NOARP"] for entry in entries)

    with Capture(twins.a, AUX) as went:
        begun = time.monotonic()
        twins.server.cut("eth1")
        wait_until(lambda: _synced(twins.b) == 0, SLOW, every=0.05, what="leaf-b still has leaf-a's word")
        forgotten = time.monotonic() - begun
        _wait_routes(twins.b, 0)
        gone = time.monotonic() - begun
    _wait_routes(twins.a, 0)

    announced, withdrawn = _told(came), _told(went)
    assert sum(map(len, announced)) == HOSTS and {route[0] for routes in announced for route in routes} == {2}
    # The segment, and with it all who are behind it, goes with the first one; the others only repeat it.
    assert [route[0] for route in withdrawn[0][:4]] == [4, 1, 1, 2]
    assert sum(map(len, withdrawn)) == 3 + HOSTS
    assert len(announced) < HOSTS / 20 and len(withdrawn) < HOSTS / 20, "they are not packed"
    with capsys.disabled():
        print(
            f"\n{HOSTS} hosts: routes on their leaf after {own:.2f} s, on the other after {both:.2f} s, "
            f"{len(announced)} UPDATEs; the segment lost: forgotten after {forgotten:.2f} s, asked and gone after "
            f"{gone:.2f} s, {len(withdrawn)} UPDATEs"
        )
