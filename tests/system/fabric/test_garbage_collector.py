# SPDX-License-Identifier: Apache-2.0
"""The kernel's garbage collector takes idle entries of hosts that live; their routes stay."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from lab import Lab, wait_until
from scene import SERVED, announce, guests, prefixes, settle, start, wait_gone, wait_routes

# The kernel looks for idle entries every 15 s, and only if there are more than gc_thresh1 in all namespaces together.
THRESHOLD = 128  # The kernel's own default.
COUNT = 150
COLLECTOR_SECONDS = 15.0
REFRESH = 30.0  # planed's preset.


@pytest.fixture
def collector() -> Iterator[None]:
    """The threshold is the machine's, and whoever has many hosts has raised it."""
    files = [Path(f"/proc/sys/net/{family}/neigh/default/gc_thresh1") for family in ("ipv4", "ipv6")]
    found = [file.read_text(encoding="ascii") for file in files]
    for file in files:
        file.write_text(str(THRESHOLD), encoding="ascii")
    yield
    for file, value in zip(files, found):
        file.write_text(value, encoding="ascii")


@pytest.mark.alone
@pytest.mark.usefixtures("collector")
def test_collected_hosts_keep_their_routes_and_the_dead_among_them_do_not(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    living = [f"10.0.200.{n}" for n in range(1, COUNT + 1)] + [f"fd00:0:0:1::2{n:03x}" for n in range(1, COUNT + 1)]
    [dead] = guests(1)
    host.add_addresses(living)
    planed = start(leaf, args=["--log-level", "debug"])
    host.announce(living, port="eth1")
    announce(host, [dead])
    wait_routes(far, [*prefixes(living), *dead.prefixes])

    with lab.watch("spine-a") as watch, leaf.popen(["ip", "monitor", "neigh"], stdout=-1) as monitor:
        for family in ("ipv4", "ipv6"):
            leaf.sysctl(f"net.{family}.neigh.{SERVED}.gc_stale_time", 1)
            leaf.sysctl(f"net.{family}.neigh.{SERVED}.delay_first_probe_time", 1)
            leaf.sysctl(f"net.{family}.neigh.{SERVED}.retrans_time_ms", 100)
        wait_until(lambda: put_back(leaf.neighbors(SERVED)).issuperset(living), 2 * COLLECTOR_SECONDS + 10, every=0.2)
        # Asked within 20 s of its announcement it counts as living by that, and is asked again at its refresh.
        wait_gone(far, dead.prefixes, REFRESH + 10)
        settle(1)
        monitor.terminate()
        said = monitor.stdout.read() if monitor.stdout else ""

    assert all(f"Deleted {address} " in said for address in living[:1] + living[-1:]), "the collector did come"
    watch.assert_never_left(prefixes(living))
    assert planed.alive


def put_back(entries: dict[str, dict[str, object]]) -> set[str]:
    """Those that planed has written: marked as learned outside, which the collector spares."""
    return {address for address, entry in entries.items() if "extern_learn" in entry}
