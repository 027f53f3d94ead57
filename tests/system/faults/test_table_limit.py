# SPDX-License-Identifier: Apache-2.0
"""The kernel's neighbour table at its limit (net.*.neigh.default.gc_thresh3, one for the whole machine)."""

import time
from collections.abc import Iterator

import pytest
from farm import BRIDGE, READY, Farm, assert_idle, prefixes_of, settle
from lab import holds_for
from neighbor_limits import neighbor_limits
from support import rtnl
from support.fake_zebra import FakeZebra

pytestmark = pytest.mark.alone

_LIMIT = 1024


@pytest.fixture(autouse=True)
def small_tables() -> Iterator[None]:
    """Debian's defaults, whatever the machine has."""
    with neighbor_limits(thresh1=128, thresh2=512, thresh3=_LIMIT):
        yield


def _strangers(farm: Farm, count: int, state: int = rtnl.REACHABLE) -> rtnl.Batch:
    """Entries that are none of planed's, on an interface that it does not serve."""
    index, batch = farm.leaf.ifindex("up1"), rtnl.Batch()
    for number in range(count):
        mac = f"02:00:00:7e:{number >> 8:02x}:{number & 255:02x}"
        batch.neighbor(index, f"10.9.{number >> 8}.{number & 255}", mac, state)
    return batch


@pytest.fixture
def farm(make_farm: "type[Farm]") -> Farm:
    """With an interface that planed does not serve."""
    return make_farm(uplinks=1)


def test_table_that_is_nearly_full_is_told_and_forgotten_when_there_is_room_again(
    farm: Farm, zebra: FakeZebra
) -> None:
    farm.send(_strangers(farm, 900))
    servers = farm.make_hosts(20)
    farm.learn(servers)

    planed = farm.start_planed()

    settle(zebra, prefixes_of(servers))
    planed.wait_log(
        f'degraded.begin .*what="ipv4 neighbour table" text="9[0-9]+ of {_LIMIT} .*gc_thresh3.*raise it', 5
    )
    farm.leaf.run(["ip", "neigh", "flush", "dev", "up1"])
    planed.wait_log('degraded.end .*what="ipv4 neighbour table"', 35)


def test_hosts_that_the_kernel_throws_out_for_want_of_room_stay_announced(farm: Farm, zebra: FakeZebra) -> None:
    """Over gc_thresh2 every new entry lets the kernel drop all that are older than five seconds, the living too."""
    servers = farm.make_hosts(300)
    farm.learn(servers, rtnl.STALE)
    planed = farm.start_planed()
    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 5)
    before = set(farm.leaf.neighbors(BRIDGE))
    time.sleep(6)

    with pytest.raises(rtnl.Refused):
        while True:
            farm.send(_strangers(farm, 1500))
    gone = before - set(farm.leaf.neighbors(BRIDGE))

    holds_for(lambda: zebra.holds_exactly(prefixes_of(servers)), 5)
    assert zebra.withdrawn() == set()
    assert_idle(planed)
    assert gone or "kernel put back at once", before


def test_host_that_finds_no_room_is_told_by_the_kernel_only_and_comes_when_there_is(
    farm: Farm, zebra: FakeZebra
) -> None:
    planed = farm.start_planed()
    planed.wait_log(READY, 5)
    with pytest.raises(rtnl.Refused):
        while True:
            farm.send(_strangers(farm, 1500))
    late = farm.make_hosts(1)
    farm.revive(late)

    farm.announce(late)
    farm.leaf.run(["ip", "neigh", "flush", "dev", "up1"])
    farm.announce(late)

    settle(zebra, prefixes_of(late), deadline=3)
