# SPDX-License-Identifier: Apache-2.0
"""Watchers: they are told everything in order or that they lost something, and cost the loop nothing."""

import json
import signal
import subprocess
import threading
import time
from typing import Any

import pytest
from farm import Farm, Server, is_sanitized, prefixes_of, quick, settle
from lab import wait_until
from planectl import Ctl
from support.fake_zebra import FakeZebra


def _next(watcher: "subprocess.Popen[str]") -> dict[str, Any]:
    assert watcher.stdout is not None
    line = watcher.stdout.readline()
    assert line, "the watch has ended"
    return json.loads(line)  # type: ignore[no-any-return]


def _until(watcher: "subprocess.Popen[str]", **wanted: Any) -> dict[str, Any]:
    """The first event with these fields."""
    while True:
        event = _next(watcher)
        if all(event.get(key) == value for key, value in wanted.items()):
            return event


def _end(*watchers: "subprocess.Popen[str]") -> None:
    for watcher in watchers:
        watcher.kill()
        watcher.communicate()


def _counters(ctl: Ctl) -> dict[str, int]:
    return {row["name"]: row["value"] for row in ctl.json("counters")}


def test_watch_tells_a_host_and_its_route_and_that_they_are_gone(farm: Farm, leaf: Ctl) -> None:
    watcher = leaf.watch()
    first = _next(watcher)
    assert (first["kind"], list(first)[:2]) == ("sync", ["at", "kind"])
    (server,) = farm.make_hosts(1, first=20)

    farm.learn([server])
    host = _until(watcher, kind="host", address=server.v4)
    assert host["gone"] is False and host["interface"] == "Vlan100"
    route = _until(watcher, kind="route", prefix=f"{server.v4}/32", state="installed")
    assert route["reason"] == "eligible"

    farm.unlearn([server])
    gone = _until(watcher, kind="route", prefix=f"{server.v4}/32", gone=True)
    assert list(gone) == ["at", "kind", "gone", "vrf", "prefix"]
    _end(watcher)


def test_watch_tells_only_the_kinds_that_were_asked_for_and_ends_after_its_count(farm: Farm, leaf: Ctl) -> None:
    watcher = leaf.watch("routes", "--count", "5")
    assert _next(watcher)["kind"] == "sync"

    farm.learn(farm.make_hosts(2, first=30))

    events, _ = watcher.communicate(timeout=quick(5))
    assert [json.loads(line)["kind"] for line in events.splitlines()] == ["route"] * 4
    assert watcher.returncode == 0


def test_watch_as_text_is_a_line_an_event(farm: Farm, leaf: Ctl) -> None:
    assert leaf.text("watch", "--count", "1").split()[1:] == ["sync"]


def test_watch_tells_an_interface_that_changes(farm: Farm, leaf: Ctl) -> None:
    watcher = leaf.watch("ports")
    assert _next(watcher)["kind"] == "sync"

    farm.leaf.link("Vlan100", up=False)

    assert _until(watcher, kind="port", name="Vlan100", carrier=False)["ifindex"] > 0
    farm.leaf.link("Vlan100", up=True)
    _until(watcher, kind="port", name="Vlan100", carrier=True)
    _end(watcher)


def test_watcher_that_stops_reading_gets_a_resync_and_holds_nobody_up(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    asleep = leaf.watch()
    awake = leaf.watch("routes")
    assert _next(asleep)["kind"] == "sync" and _next(awake)["kind"] == "sync"
    asleep.send_signal(signal.SIGSTOP)
    told: list[dict[str, Any]] = []
    reading = threading.Thread(target=lambda: told.extend(json.loads(line) for line in awake.stdout or []), daemon=True)
    reading.start()
    servers = farm.make_hosts(200, first=100)
    rounds = 20

    for _ in range(rounds):
        farm.learn(servers)
        settle(zebra, prefixes_of([*farm.make_hosts(4), *servers]), quick(5))
        farm.unlearn(servers)
        settle(zebra, prefixes_of(farm.make_hosts(4)), quick(5))

    (late,) = farm.make_hosts(1, first=400)
    farm.learn([late])
    wait_until(lambda: told and told[-1].get("state") == "installed" and any(
        event.get("prefix") == f"{late.v4}/32" for event in told[-8:]), quick(5), what="the other is told")  # fmt: skip
    asleep.send_signal(signal.SIGCONT)
    _until(asleep, kind="resync")
    (later,) = farm.make_hosts(1, first=401)
    farm.learn([later])
    _until(asleep, kind="route", prefix=f"{later.v4}/32", state="installed")
    _end(asleep)
    awake.kill()
    reading.join()
    awake.wait()


@pytest.mark.alone
def test_a_hundred_watchers_under_churn_leave_the_loop_alone(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    count = 100
    watchers = [leaf.watch("--count", "100000") for _ in range(count)]
    for watcher in watchers:
        assert _next(watcher)["kind"] == "sync"
        watcher.send_signal(signal.SIGSTOP)  # None of them reads: the worst that they can do.
    assert _counters(leaf)["api_watchers"] == count
    servers = farm.make_hosts(100, first=100)

    for _ in range(10):
        farm.learn(servers)
        settle(zebra, prefixes_of([*farm.make_hosts(4), *servers]), quick(5))
        farm.unlearn(servers)
        settle(zebra, prefixes_of(farm.make_hosts(4)), quick(5))

    assert farm.planed.resident_bytes() < (1 << 30 if is_sanitized() else 200 << 20)
    for watcher in watchers:
        watcher.send_signal(signal.SIGCONT)
    _end(*watchers)
    wait_until(lambda: _counters(leaf)["api_watchers"] == 0, quick(5), what="no watcher is left")


@pytest.mark.alone
def test_big_tables_are_read_while_routes_change(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    servers: list[Server] = farm.make_hosts(400, first=100)
    farm.learn(servers)
    settle(zebra, prefixes_of([*farm.make_hosts(4), *servers]), quick(10))

    began = time.monotonic()
    rows = leaf.json("hosts")
    took = time.monotonic() - began

    assert len(rows) == 808
    assert took < quick(1)
    assert len(leaf.json("routes")) == 808
