# SPDX-License-Identifier: Apache-2.0
"""No zebra, a broken one, a strange one: planed says in a sentence what is wrong, goes on, and does not spin."""

import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from farm import BRIDGE, READY, Farm, Server, assert_idle, is_sanitized, prefixes_of, quick, settle
from lab import Planed, holds_for, wait_until
from support import rtnl
from support.fake_zebra import FakeZebra, Manner, Route

_SERVED: dict[str, Any] = {"interfaces": [{"name": BRIDGE}]}


def _start(farm: Farm, count: int = 10, config: dict[str, Any] | None = None) -> tuple[Planed, list[Server]]:
    servers = farm.make_hosts(count)
    farm.learn(servers)
    return farm.start_planed(config or _SERVED), servers


def _says(planed: Planed, sentence: str, deadline: float = 5.0, since: int = 0) -> None:
    planed.wait_log(rf'degraded.begin .*what="zebra" text="[^"]*{sentence}', quick(deadline), since)


# ---- nobody, or nobody to talk to ----


def test_no_socket_is_told_and_waited_for(farm: Farm) -> None:
    planed, servers = _start(farm)

    _says(planed, "/run/frr/zserv.api does not exist")
    assert_idle(planed)
    with FakeZebra(farm.zserv) as zebra:
        settle(zebra, prefixes_of(servers), deadline=2.5)
        planed.wait_log('degraded.end .*what="zebra"', 1)
        planed.stop()


def test_socket_that_nobody_listens_on_any_more_is_told_and_waited_for(farm: Farm) -> None:
    zebra = FakeZebra(farm.zserv).start()
    zebra.stop(keep_socket=True)
    planed, servers = _start(farm)

    _says(planed, "nobody listens on /run/frr/zserv.api")
    assert_idle(planed)
    with zebra:
        settle(zebra, prefixes_of(servers), deadline=2.5)
        planed.stop()


@pytest.mark.parametrize("thing", ["file", "folder", "link to nowhere"])
def test_path_that_is_no_socket_is_told(farm: Farm, thing: str) -> None:
    path = Path(farm.zserv)
    if thing == "file":
        path.write_text("zebra\n", encoding="utf-8")
    elif thing == "folder":
        path.mkdir()
    else:
        path.symlink_to("/run/nowhere/zserv.api")
    planed, _ = _start(farm)

    _says(planed, "zserv.api")
    assert_idle(planed)


def _refuses_quietly(farm: Farm, zebra: FakeZebra, sentence: str) -> None:
    """The sentence once, few attempts, each further apart from the one before, no processor time; then it is cured."""
    planed, servers = _start(farm)

    _says(planed, sentence, deadline=20)
    said = planed.log().count("degraded.begin")
    assert_idle(planed, seconds=3)
    assert planed.log().count("degraded.begin") - said <= 1, "it repeats itself"
    assert zebra.since(0, "HELLO", "ROUTE_ADD") == []
    zebra.stop()
    with FakeZebra(farm.zserv) as good:  # A new file: no need to wait for the back-off's end.
        settle(good, prefixes_of(servers), deadline=2.5)
        planed.stop()


def test_socket_that_speaks_garbage_is_told_and_left_alone(farm: Farm) -> None:
    with FakeZebra(farm.zserv, manner=Manner.GARBAGE) as zebra:
        _refuses_quietly(farm, zebra, "does not speak ZAPI")


def test_socket_that_accepts_and_says_nothing_is_told(farm: Farm) -> None:
    with FakeZebra(farm.zserv, manner=Manner.SILENT) as zebra:
        _refuses_quietly(farm, zebra, "does not answer")


def test_socket_that_closes_at_once_is_told(farm: Farm) -> None:
    with FakeZebra(farm.zserv, manner=Manner.CLOSING) as zebra:
        _refuses_quietly(farm, zebra, "closed the connection")


def test_unknown_release_is_told_and_gets_no_route(farm: Farm) -> None:
    with FakeZebra(farm.zserv, error_number=131) as zebra:
        _refuses_quietly(farm, zebra, "release that planed does not know.*131")


def test_attempts_come_further_and_further_apart(farm: Farm) -> None:
    with FakeZebra(farm.zserv, manner=Manner.CLOSING) as zebra:
        _start(farm)
        wait_until(lambda: len(zebra.connections) >= 6, 20)
        at = zebra.connections
        gaps = [later - earlier for earlier, later in zip(at, at[1:])]

        # The first of a connection's seconds, at most, is the wait for an earlier session to be closed by zebra.
        assert gaps[-1] - gaps[0] > 0.8 and gaps[-1] == max(gaps), gaps


@pytest.mark.parametrize(
    ("pinned", "not_this"), [("10.3", "10.2 or later"), ("9.1", "9.1"), ("8.4", ""), ("9.0", "")]
)
def test_pinned_release_must_agree(farm: Farm, pinned: str, not_this: str) -> None:
    with FakeZebra(farm.zserv, family="A") as zebra:
        planed, servers = _start(farm, config={**_SERVED, "frr": {"release": pinned}})
        if not not_this:
            settle(zebra, prefixes_of(servers))
        else:
            _says(planed, f"FRR 8.4 to 9.0.*frr.release names FRR {not_this}")
            assert_idle(planed)
            assert zebra.since(0, "HELLO", "ROUTE_ADD") == []
        planed.stop()


# ---- every family, and from one to another ----


@pytest.mark.parametrize("family", ["A", "B", "C", "D"])
def test_every_family_holds_the_hosts_and_forgets_the_dead(farm: Farm, family: str) -> None:
    with FakeZebra(farm.zserv, family=family) as zebra:
        planed, servers = _start(farm)
        settle(zebra, prefixes_of(servers))
        planed.wait_log(READY, 5)
        assert {(r.distance, r.tag) for r in zebra.routes.values()} == {(5, 100)}
        farm.unlearn(servers[:3])
        settle(zebra, prefixes_of(servers[3:]), deadline=1)
        planed.stop()


@pytest.mark.parametrize(("before", "after"), [("A", "D"), ("D", "A"), ("C", "A"), ("B", "C")])
def test_upgrade_or_downgrade_behind_the_socket_is_noticed(farm: Farm, before: str, after: str) -> None:
    with FakeZebra(farm.zserv, family=before) as zebra:
        planed, servers = _start(farm)
        settle(zebra, prefixes_of(servers))
        mark = zebra.mark()

        zebra.restart(family=after)

        settle(zebra, prefixes_of(servers), deadline=2)
        planed.wait_log(f"zapi.up .*family={after}", 1)
        assert not [m for m in zebra.since(mark) if m.kind.startswith("command ") and m.kind != "command 65535"]
        planed.stop()


def test_release_that_became_unknown_on_reconnect_is_refused(farm: Farm, zebra: FakeZebra) -> None:
    planed, servers = _start(farm)
    settle(zebra, prefixes_of(servers))
    mark = zebra.mark()

    zebra.stop()
    zebra.error_number = 140
    zebra.start()

    _says(planed, "does not know")
    assert_idle(planed)
    assert zebra.since(mark, "HELLO", "ROUTE_ADD") == []


def test_what_an_earlier_life_left_behind_is_removed(farm: Farm, zebra: FakeZebra) -> None:
    zebra.plant("10.0.77.77/32", Route(ifindex=1, distance=5, tag=100))
    zebra.plant("fd00::dead/128", Route(ifindex=1, distance=100))

    _, servers = _start(farm)

    settle(zebra, prefixes_of(servers), deadline=2)


# ---- in the middle of a session ----


@pytest.mark.parametrize("data", [b"\0" * 64, b"\0\x0a\xff\x06\0\0\0\0\0\x01", b"\0\x09\xfe\x06\0\0\0\0\0\0", b"\xff" * 20_000])
def test_garbage_in_a_session_ends_it_and_a_new_one_heals(farm: Farm, zebra: FakeZebra, data: bytes) -> None:
    planed, servers = _start(farm)
    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 5)
    since = len(planed.log())

    zebra.say(data)

    _says(planed, "", since=since)
    planed.wait_log("zapi.up", 5, since)
    settle(zebra, prefixes_of(servers))


def test_session_that_ends_again_and_again_is_no_storm_of_connections(farm: Farm, zebra: FakeZebra) -> None:
    planed, servers = _start(farm)
    settle(zebra, prefixes_of(servers))
    begun, cpu = time.monotonic(), planed.cpu_seconds()

    while time.monotonic() - begun < 4:
        zebra.close_clients()
        time.sleep(0.005)

    made = sum(at >= begun for at in zebra.connections)
    assert made <= 60, f"{made} connections in 4 s"
    assert planed.cpu_seconds() - cpu < quick(1)
    settle(zebra, prefixes_of(servers), deadline=35)


def test_answers_that_come_byte_by_byte_are_understood(farm: Farm, zebra: FakeZebra) -> None:
    zebra.chunk = 1
    planed, servers = _start(farm)

    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 10)


def test_messages_that_nobody_asked_for_are_skipped(farm: Farm, zebra: FakeZebra) -> None:
    planed, servers = _start(farm)
    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 5)

    for command in (0, 1, 2, 4, 5, 33, 42, 61, 125, 300):
        zebra.say(b"\x40\x00\xfe\x06\0\0\0\0" + command.to_bytes(2, "big") + bytes(0x4000 - 10))

    late = farm.make_hosts(1, first=300)
    farm.learn(late)
    settle(zebra, prefixes_of(servers + late))
    assert len(zebra.connections) == 2  # Probe and session.


def test_route_that_somebody_else_took_away_is_put_back(farm: Farm, zebra: FakeZebra) -> None:
    planed, servers = _start(farm)
    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 5)

    for prefix in servers[0].prefixes:
        zebra.take_away(prefix)

    settle(zebra, prefixes_of(servers), deadline=2)


def test_refused_routes_are_told_and_tried_again_ever_more_rarely(farm: Farm, zebra: FakeZebra) -> None:
    zebra.refuses = lambda prefix: True
    planed, servers = _start(farm)

    planed.wait_log("zapi.route.failed .*could not install", 5)
    assert_idle(planed, seconds=3)
    tries = len([m for m in zebra.record if m.prefix == servers[0].prefixes[0] and m.kind == "ROUTE_ADD"])
    assert 2 <= tries <= 8, tries
    zebra.refuses = lambda prefix: False
    settle(zebra, prefixes_of(servers), deadline=10)


# ---- answers that never come (zebra --asic-offload=notify_on_offload) ----


def test_zebra_that_never_acknowledges_gets_every_route_and_planed_is_ready(farm: Farm, zebra: FakeZebra) -> None:
    zebra.ack_delay = None
    planed, servers = _start(farm, count=500)

    settle(zebra, prefixes_of(servers), deadline=2)
    planed.wait_log(READY, 10)
    assert_idle(planed, seconds=5)
    mark = zebra.mark()
    farm.unlearn(servers[:10])
    settle(zebra, prefixes_of(servers[10:]), deadline=1)
    farm.learn(servers[:10])
    settle(zebra, prefixes_of(servers), deadline=5)
    assert zebra.withdrawn(mark) == prefixes_of(servers[:10])
    assert len(zebra.since(mark, "ROUTE_ADD")) <= 40


def test_acknowledgements_that_come_late_change_nothing(farm: Farm, zebra: FakeZebra) -> None:
    zebra.ack_delay = 3.0
    planed, servers = _start(farm)
    settle(zebra, prefixes_of(servers))

    for _ in range(20):
        farm.unlearn(servers[:5])
        farm.learn(servers[:5])

    settle(zebra, prefixes_of(servers), deadline=8)
    holds_for(lambda: zebra.holds_exactly(prefixes_of(servers)), 4)
    assert planed.alive


def test_zebra_that_neither_acknowledges_nor_ends_a_dump_is_no_spin(farm: Farm, zebra: FakeZebra) -> None:
    zebra.ack_delay, zebra.answers_marks = None, False
    planed, servers = _start(farm)

    settle(zebra, prefixes_of(servers))
    assert_idle(planed, seconds=5)
    farm.unlearn(servers[:5])
    settle(zebra, prefixes_of(servers[5:]), deadline=1)


# ---- a zebra that stops reading ----


def test_stalled_zebra_is_told_and_costs_bounded_memory(farm: Farm, zebra: FakeZebra) -> None:
    """What waits is coalesced per prefix: 10,000 prefixes that change 50 times each are 10,000 that wait."""
    steady = farm.make_hosts(50)
    churning = farm.make_hosts(5000, first=1000)
    farm.learn(steady + churning, state=rtnl.PERMANENT)
    planed = farm.start_planed(_SERVED)
    settle(zebra, prefixes_of(steady + churning), deadline=10)
    planed.wait_log(READY, 5)
    mark = zebra.mark()

    zebra.stall()
    _flap(farm, churning, times=3)
    planed.wait_log("zapi.stalled .*zebra does not read", 15)
    before = planed.resident_bytes()
    _flap(farm, churning, times=50)
    farm.unlearn(churning[:2000])
    wait_until(lambda: _rests(planed), quick(20), what="planed has not caught up")
    assert_idle(planed)
    grown = planed.resident_bytes() - before
    zebra.resume()

    settle(zebra, prefixes_of(steady + churning[2000:]), deadline=5)
    planed.wait_log("zapi.resumed", 2)
    assert grown < (64 << 20 if is_sanitized() else 4 << 20), f"{grown >> 10} KiB more"
    assert not zebra.withdrawn(mark) & prefixes_of(steady)


def _rests(planed: Planed) -> bool:
    before = planed.cpu_seconds()
    time.sleep(0.5)
    return planed.cpu_seconds() - before < 0.05


def _flap(farm: Farm, servers: list[Server], times: int) -> None:
    """Each of them goes and comes; at the end all are there."""
    bridge, batch = farm.leaf.ifindex(BRIDGE), rtnl.Batch()
    for server in servers:
        batch.no_neighbor(bridge, server.v4)
        batch.no_neighbor(bridge, server.v6)
    for server in servers:
        batch.neighbor(bridge, server.v4, server.mac, rtnl.PERMANENT)
        batch.neighbor(bridge, server.v6, server.mac, rtnl.PERMANENT)
    with rtnl.open_socket(farm.leaf.open_socket) as channel:
        for _ in range(times):
            batch.send(channel)


def test_zebra_that_stalled_and_died_gets_the_last_state_only(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(5000)
    farm.learn(servers, state=rtnl.PERMANENT)
    planed = farm.start_planed(_SERVED)
    settle(zebra, prefixes_of(servers), deadline=10)
    zebra.stall()
    _flap(farm, servers, times=3)
    farm.unlearn(servers[:2500])

    zebra.restart()
    zebra.resume()

    settle(zebra, prefixes_of(servers[2500:]), deadline=8)
    assert planed.alive


def test_zebra_that_stalls_during_the_probe_is_no_spin(farm: Farm, zebra: FakeZebra) -> None:
    zebra.stall()
    planed, servers = _start(farm)

    _says(planed, "does not answer", deadline=20)
    assert_idle(planed)
    zebra.resume()
    settle(zebra, prefixes_of(servers), deadline=35)


# ---- rights ----


@pytest.fixture
def as_nobody(farm: Farm) -> Iterator[Callable[[], list[str]]]:
    """A planed that has what its unit file grants and nothing else: it is not root."""
    for folder in ("/var/lib/planed", "/run/planed"):
        farm.leaf.run(["chown", "nobody", folder])
    keep = "+net_admin,+net_raw"
    yield lambda: [
        "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", f"--inh-caps={keep}", f"--ambient-caps={keep}",
        f"--bounding-set=-all,{keep}",
    ]  # fmt: skip


def test_socket_that_planed_may_not_open_is_told_until_it_may(
    farm: Farm, zebra: FakeZebra, as_nobody: Callable[[], list[str]]
) -> None:
    Path(farm.zserv).chmod(0o700)
    servers = farm.make_hosts(5)
    farm.learn(servers)
    planed = farm.start_planed(by=as_nobody())

    _says(planed, "no right to open /run/frr/zserv.api")
    assert_idle(planed)
    Path(farm.zserv).chmod(0o777)
    settle(zebra, prefixes_of(servers), deadline=2.5)
    planed.stop()


def test_abstract_or_foreign_listener_does_not_disturb(farm: Farm, zebra: FakeZebra) -> None:
    """Somebody else who connects, says nothing and stays is nothing to planed."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.connect(farm.zserv)
        planed, servers = _start(farm)
        settle(zebra, prefixes_of(servers))
        planed.send_signal(signal.SIGTERM)
        assert planed.wait(quick(1)) == 0
