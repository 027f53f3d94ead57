# SPDX-License-Identifier: Apache-2.0
"""SIGTERM in the middle of anything: the end comes within a second, with code 0, and says in zebra what on_exit says."""

import os
import signal
import subprocess
import time
from typing import Any

import pytest
from farm import BRIDGE, READY, Farm, prefixes_of, quick, settle
from lab import Planed, wait_until
from support import rtnl
from support.fake_zebra import FakeZebra, Manner

_KEEP: dict[str, Any] = {"interfaces": [{"name": BRIDGE}]}
_GO: dict[str, Any] = {**_KEEP, "on_exit": "withdraw"}


def _ends(planed: Planed, seconds: float = 1.0) -> None:
    begun = time.monotonic()
    planed.send_signal(signal.SIGTERM)
    code = planed.wait(10)
    took = time.monotonic() - begun
    assert code == 0
    assert took <= quick(seconds), f"it took {took:.2f} s"


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_stop_leaves_the_routes_to_zebra(farm: Farm, zebra: FakeZebra, sig: signal.Signals) -> None:
    servers = farm.make_hosts(50)
    farm.learn(servers)
    planed = farm.start_planed(_KEEP)
    settle(zebra, prefixes_of(servers))

    planed.send_signal(sig)

    assert planed.wait(quick(1)) == 0
    wait_until(lambda: zebra.sessions == 0, 1)
    assert zebra.holds_exactly(prefixes_of(servers)) and zebra.withdrawn() == set()


@pytest.mark.parametrize("family", ["A", "D"])
def test_stop_takes_the_routes_along_where_it_is_told_so(farm: Farm, family: str) -> None:
    with FakeZebra(farm.zserv, family=family) as zebra:
        servers = farm.make_hosts(50)
        farm.learn(servers)
        planed = farm.start_planed(_GO)
        settle(zebra, prefixes_of(servers))

        _ends(planed)

        settle(zebra, set(), deadline=0.5)


@pytest.mark.parametrize("config", [_KEEP, _GO], ids=["keep", "withdraw"])
def test_stop_while_zebra_does_not_read(farm: Farm, zebra: FakeZebra, config: dict[str, Any]) -> None:
    planed = farm.start_planed(config)
    planed.wait_log(READY, 5)
    zebra.stall()
    farm.learn(farm.make_hosts(5000), state=rtnl.PERMANENT)  # More than the socket takes; PERMANENT knows no limit.
    time.sleep(0.5)

    _ends(planed, seconds=1.5)  # It gives zebra one second to read.


@pytest.mark.parametrize("manner", [Manner.SILENT, Manner.CLOSING, Manner.GARBAGE])
def test_stop_while_zebra_is_none(farm: Farm, manner: Manner) -> None:
    with FakeZebra(farm.zserv, manner=manner) as zebra:
        planed = farm.start_planed(_GO)
        wait_until(lambda: len(zebra.connections) > 0, 5)
        time.sleep(0.1)

        _ends(planed, seconds=1.5)  # It tries for one second to tell zebra that the routes shall go.


def test_stop_without_any_zebra(farm: Farm) -> None:
    planed = farm.start_planed(_GO)
    planed.wait_log('degraded.begin .*what="zebra"', 5)

    _ends(planed)


@pytest.mark.parametrize("after", [0.0, 0.01, 0.02, 0.05, 0.1])
def test_stop_while_the_tables_are_read_for_the_first_time(farm: Farm, zebra: FakeZebra, after: float) -> None:
    farm.learn(farm.make_hosts(5000), state=rtnl.PERMANENT)
    planed = farm.start_planed(_KEEP)
    _wait_signals(planed)
    time.sleep(after)

    _ends(planed)


def _wait_signals(planed: Planed) -> None:
    """Until SIGTERM is caught: before that the kernel itself ends a process, as any."""

    def caught() -> bool:
        with open(f"/proc/{planed.pid}/status", encoding="utf-8") as status:
            mask = next(int(line.split()[1], 16) for line in status if line.startswith("SigCgt"))
        return bool(mask >> (signal.SIGTERM - 1) & 1)

    wait_until(caught, 5, every=0.001)


def test_stop_under_a_storm_of_changes(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(30)
    farm.learn(servers)
    planed = farm.start_planed(_KEEP)
    settle(zebra, prefixes_of(servers))
    storm = subprocess.Popen(
        ["nsenter", "-t", str(farm.leaf.pid), "-n", "sh", "-c",
         f"while :; do ip neigh replace 10.0.9.9 lladdr 02:00:00:00:99:99 nud stale dev {BRIDGE};"
         f" ip neigh del 10.0.9.9 dev {BRIDGE}; done"],
        start_new_session=True,
    )  # fmt: skip
    try:
        time.sleep(0.3)
        _ends(planed)
    finally:
        os.killpg(storm.pid, signal.SIGKILL)
        storm.wait()


def test_stop_twice_and_amid_reloads_is_one_stop(farm: Farm, zebra: FakeZebra) -> None:
    planed = farm.start_planed(_GO)
    planed.wait_log(READY, 5)

    for _ in range(20):
        planed.send_signal(signal.SIGHUP)
    planed.send_signal(signal.SIGTERM)
    planed.send_signal(signal.SIGTERM)
    planed.send_signal(signal.SIGHUP)

    assert planed.wait(quick(1)) == 0
