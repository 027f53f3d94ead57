# SPDX-License-Identifier: Apache-2.0
"""What an operator asks of hosts: drain and undrain, probe, forget."""

from collections.abc import Iterable

from farm import READY, Farm, Server, prefixes_of, quick, settle
from lab import wait_until
from planectl import Ctl
from support.fake_zebra import FakeZebra


def _reasons(leaf: Ctl) -> dict[str, str]:
    return {host["address"]: host["reason"] for host in leaf.json("hosts")}


def _holds_exactly(zebra: FakeZebra, servers: Iterable[Server]) -> None:
    _holds_exactly_within(zebra, servers, 5)


def _holds_exactly_within(zebra: FakeZebra, servers: Iterable[Server], seconds: float) -> None:
    settle(zebra, prefixes_of(servers), quick(seconds))


def test_leaf_is_drained_and_comes_back(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    servers = farm.make_hosts(4)

    assert leaf.json("drain") == {"hosts": 8}
    _holds_exactly(zebra, [])

    status = leaf.json("status")
    assert (status["drained"], status["drains"], status["ready"]) == (True, ["leaf"], True)
    assert set(_reasons(leaf).values()) == {"drained"}
    assert "drained     leaf" in leaf.text("status")
    assert "undrain" in leaf.text("explain", servers[0].v4)
    fresh = farm.make_hosts(2, first=40)
    farm.learn(fresh)
    wait_until(lambda: len(leaf.json("hosts")) == 12, quick(5), what="learning goes on")
    _holds_exactly(zebra, [])

    assert leaf.text("undrain") == "undrained, 12 host(s) come back\n"
    _holds_exactly(zebra, servers + fresh)
    assert leaf.json("status")["drains"] == []


def test_port_and_host_are_drained_alone(zebra: FakeZebra, farm: Farm, leaf: Ctl) -> None:
    first, second, *others = farm.make_hosts(4)
    port = next(host["port"] for host in leaf.json("hosts") if host["address"] == first.v4)

    leaf.text("drain", "--port", port)
    leaf.text("drain", "--host", second.v4)

    wait_until(lambda: zebra.holds(*prefixes_of(others), f"{second.v6}/128"), quick(5), what="the others stay")
    wait_until(lambda: not zebra.holds(f"{second.v4}/32"), quick(5), what="one address has gone")
    reasons = _reasons(leaf)
    assert (reasons[first.v4], reasons[first.v6], reasons[second.v4]) == ("drained",) * 3
    assert leaf.json("status")["drains"] == [f"port {port}", f"host {second.v4}"]
    leaf.text("undrain", "--port", port)
    leaf.text("undrain", "--host", second.v4)
    _holds_exactly(zebra, [first, second, *others])


def test_drain_outlives_planed(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    leaf.text("drain")
    _holds_exactly(zebra, [])

    since = len(farm.planed.log())
    farm.planed.restart()
    farm.planed.wait_log(READY, quick(5), since)

    assert leaf.json("status")["drains"] == ["leaf"]
    _holds_exactly(zebra, [])
    leaf.text("undrain")
    _holds_exactly(zebra, farm.make_hosts(4))


def test_what_cannot_be_done_is_refused_with_a_hint(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    assert "no server port eth77" in leaf.fails(1, "drain", "--port", "eth77")
    assert "planectl hosts lists them" in leaf.fails(1, "drain", "--host", "10.0.9.9")
    assert "planectl status lists" in leaf.fails(1, "undrain", "--host", "10.0.9.9")
    assert "not both" in leaf.fails(2, "drain", "--port", "x", "--host", "10.0.9.9")
    assert "planectl explain 192.0.2.1" in leaf.fails(1, "probe", "192.0.2.1")
    assert "planectl hosts lists them" in leaf.fails(1, "forget", "10.0.9.9")
    for verb in ("probe", "forget"):
        assert "is no address" in leaf.fails(2, verb, "nonsense")
    _holds_exactly(zebra, farm.make_hosts(4))


def test_who_did_it_is_logged(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    leaf.text("drain", "--host", "10.0.1.2")

    farm.planed.wait_log(r'api.command .*call=drain scope="host 10.0.1.2" pid=\d+ uid=0', quick(2))
    farm.planed.wait_log(r'drain.begin .*scope="host 10.0.1.2" hosts=1', quick(2))


def test_dead_host_is_forgotten_and_a_living_one_is_not(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    dead, living, *others = farm.make_hosts(4)
    farm.kill([dead])

    for address in (dead.v4, dead.v6, living.v4, living.v6):
        leaf.text("forget", address)

    _holds_exactly_within(zebra, [living, *others], 12)  # The kernel asks for six seconds.
    assert _reasons(leaf)[living.v4] == "eligible"


def test_probe_finds_a_host_that_nobody_knew(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    (silent,) = farm.make_hosts(1, first=50)
    farm.revive([silent])

    assert leaf.json("probe", silent.v4) == {"places": 1}

    wait_until(lambda: zebra.holds(f"{silent.v4}/32"), quick(5), what="it has answered")
