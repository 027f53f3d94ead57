# SPDX-License-Identifier: Apache-2.0
"""READY means what it says, a loop that turns is alive and one that hangs is not, a reload and a stop are announced."""

import signal
import time
from typing import Any

import pytest
from farm import BRIDGE, Farm, prefixes_of, quick, settle
from lab import holds_for, wait_until
from notify_socket import NotifySocket
from support import rtnl
from support.fake_zebra import FakeZebra, Manner

_BASE: dict[str, Any] = {"interfaces": [{"name": BRIDGE}], "redis": {"endpoint": "off"}}
_ORDER = ("RELOADING", "READY", "STOPPING")


def _phases(manager: NotifySocket) -> list[str]:
    return [name for message in manager.messages for name in _ORDER if name in message.fields]


def test_ready_comes_with_the_last_route_and_not_before(farm: Farm, zebra: FakeZebra, manager: NotifySocket) -> None:
    servers = farm.make_hosts(2000)
    farm.learn(servers, state=rtnl.PERMANENT)  # Which knows no limit.
    manager.look = lambda: len(zebra.routes)

    farm.start_planed(_BASE, env=manager.environment())

    ready = manager.wait_for("READY", quick(10))
    assert ready.seen == len(prefixes_of(servers))
    assert manager.messages[0].fields.keys() == {"STATUS"} and "READY" not in manager.messages[0].fields
    assert "; host routes: 4000" in ready.fields["STATUS"]


def test_ready_comes_where_there_is_no_zebra(farm: Farm, manager: NotifySocket) -> None:
    farm.learn(farm.make_hosts(10))

    farm.start_planed(_BASE, env=manager.environment())

    ready = manager.wait_for("READY", quick(2))
    assert ready.fields["STATUS"].startswith("Degraded; host routes: 20; zebra: ")


def test_status_forgets_that_zebra_was_away(farm: Farm, manager: NotifySocket) -> None:
    servers = farm.make_hosts(10)
    farm.learn(servers)
    farm.start_planed(_BASE, env=manager.environment())
    manager.wait_for("READY", quick(2))

    with FakeZebra(farm.zserv, family="A") as zebra:
        settle(zebra, prefixes_of(servers))
        wait_until(lambda: manager.status == "Ready; host routes: 20", quick(2))
        farm.planed.stop()

    assert _phases(manager) == ["READY", "STOPPING"]


@pytest.mark.parametrize("manner", [Manner.SILENT, Manner.CLOSING, Manner.GARBAGE])
def test_ready_comes_where_zebra_is_none(farm: Farm, manager: NotifySocket, manner: Manner) -> None:
    with FakeZebra(farm.zserv, manner=manner):
        farm.start_planed(_BASE, env=manager.environment())

        ready = manager.wait_for("READY", quick(30))
        assert "zebra: " in ready.fields["STATUS"]
        farm.planed.stop()


@pytest.mark.alone
def test_idle_loop_feeds_the_watchdog_three_times_a_period(farm: Farm, zebra: FakeZebra, manager: NotifySocket) -> None:
    farm.learn(farm.make_hosts(10))
    farm.start_planed(_BASE, env=manager.environment(watchdog=1.5))
    begun = manager.wait_for("READY", quick(5)).at

    wait_until(lambda: len(manager.with_field("WATCHDOG", begun)) >= 7, quick(5))

    fed = [message.at for message in manager.with_field("WATCHDOG", begun)]
    gaps = [after - before for before, after in zip(fed, fed[1:])]
    assert max(gaps) < 1.0, gaps  # One may be late; a third less food than asked for is none.
    assert 0.45 < sum(gaps) / len(gaps) < 0.7, gaps


def test_stopped_loop_feeds_nothing(farm: Farm, zebra: FakeZebra, manager: NotifySocket) -> None:
    farm.start_planed(_BASE, env=manager.environment(watchdog=0.9))
    manager.wait_for("READY", quick(5))

    farm.planed.send_signal(signal.SIGSTOP)
    try:
        time.sleep(0.1)  # What it has sent already arrives.
        stopped = time.monotonic()
        holds_for(lambda: not manager.with_field("WATCHDOG", stopped), 1.5)
    finally:
        farm.planed.send_signal(signal.SIGCONT)

    manager.wait_for("WATCHDOG", quick(1), since=stopped)


def test_no_food_for_the_watchdog_of_another_process(farm: Farm, zebra: FakeZebra, manager: NotifySocket) -> None:
    farm.start_planed(_BASE, env={**manager.environment(watchdog=0.3), "WATCHDOG_PID": "1"})
    manager.wait_for("READY", quick(5))

    holds_for(lambda: not manager.with_field("WATCHDOG"), 0.5)


def test_reload_is_announced_and_ends(farm: Farm, zebra: FakeZebra, manager: NotifySocket) -> None:
    servers = farm.make_hosts(10)
    farm.learn(servers)
    planed = farm.start_planed(_BASE, env=manager.environment())
    first = manager.wait_for("READY", quick(5))
    before = time.monotonic()
    planed.write_config({**_BASE, "routes": {"tag": 77}})

    planed.send_signal(signal.SIGHUP)

    reloading = manager.wait_for("RELOADING", quick(2))
    ready = manager.wait_for("READY", quick(2), since=reloading.at)
    assert first.at < reloading.at <= ready.at
    assert before <= int(reloading.fields["MONOTONIC_USEC"]) / 1e6 <= reloading.at
    wait_until(lambda: {route.tag for route in zebra.routes.values()} == {77}, quick(2))


def test_refused_reload_ends_too_and_the_status_says_so(farm: Farm, zebra: FakeZebra, manager: NotifySocket) -> None:
    planed = farm.start_planed(_BASE, env=manager.environment())
    manager.wait_for("READY", quick(5))

    planed.write_config({**_BASE, "what": 1, "routes": {"tag": -1}})
    planed.send_signal(signal.SIGHUP)
    wait_until(lambda: _phases(manager) == ["READY", "RELOADING", "READY"], quick(2))
    refused = manager.status
    planed.write_config(_BASE)
    planed.send_signal(signal.SIGHUP)
    wait_until(lambda: _phases(manager) == ["READY"] + ["RELOADING", "READY"] * 2, quick(2))

    assert "configuration refused, faults: 2, the earlier one is in force" in refused
    assert manager.status == "Ready; host routes: 0"


def test_stop_is_announced_and_is_the_last_word(farm: Farm, zebra: FakeZebra, manager: NotifySocket) -> None:
    planed = farm.start_planed(_BASE, env=manager.environment(watchdog=0.9))
    manager.wait_for("READY", quick(5))

    planed.send_signal(signal.SIGTERM)

    assert planed.wait(quick(1)) == 0
    manager.wait_for("STOPPING", quick(1))
    assert _phases(manager) == ["READY", "STOPPING"]


def test_manager_that_does_not_read_holds_up_nothing(farm: Farm, zebra: FakeZebra, manager: NotifySocket) -> None:
    """The kernel holds eleven messages by default: sd_notify(3) of libsystemd would wait with the twelfth."""
    planed = farm.start_planed(_BASE, env=manager.environment(watchdog=0.03))
    manager.wait_for("READY", quick(5))
    hold = _Hold()
    manager.look = hold
    wait_until(lambda: hold.waiting, quick(2))
    time.sleep(1.0)  # A hundred heartbeats.

    servers = farm.make_hosts(10)
    farm.learn(servers)
    settle(zebra, prefixes_of(servers), deadline=1)
    planed.send_signal(signal.SIGHUP)
    planed.wait_log("config.reloaded", quick(1))

    hold.release()
    wait_until(lambda: manager.status == "Ready; host routes: 20", quick(2))


class _Hold:
    """What blocks the manager's reading."""

    def __init__(self) -> None:
        self.waiting = False
        self._released = False

    def __call__(self) -> None:
        self.waiting = True
        wait_until(lambda: self._released, 60)

    def release(self) -> None:
        self._released = True
