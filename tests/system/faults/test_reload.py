# SPDX-License-Identifier: Apache-2.0
"""SIGHUP: a wrong file changes nothing and all its faults are told; a right one applies, also to what is known long."""

import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from farm import BRIDGE, READY, Farm, Server, prefixes_of, settle
from lab import Planed, holds_for, wait_until
from support import rtnl
from support.fake_zebra import FakeZebra, Message

_BASE: dict[str, Any] = {"interfaces": [{"name": BRIDGE}]}


def _start(farm: Farm, zebra: FakeZebra, count: int = 20, config: dict[str, Any] | None = None) -> list[Server]:
    servers = farm.make_hosts(count)
    farm.learn(servers)
    farm.start_planed(config or _BASE).wait_log(READY, 10)
    return servers


def _reload(planed: Planed, config: dict[str, Any] | str, says: str = "config.reloaded") -> str:
    """What was logged from the reload to its last word."""
    since = len(planed.log())
    planed.write_config(config)
    planed.send_signal(signal.SIGHUP)
    planed.wait_log(says, 5, since)
    return planed.log()[since:]


def _served(**keys: Any) -> dict[str, Any]:
    return {"interfaces": [{"name": BRIDGE, **keys}]}


def test_wrong_file_leaves_the_running_state_untouched_and_names_all_faults(farm: Farm, zebra: FakeZebra) -> None:
    servers = _start(farm, zebra)
    settle(zebra, prefixes_of(servers))
    mark = zebra.mark()
    before = _settings(farm)

    said = _reload(
        farm.planed,
        "interfaces:\n  - name: Vlan100\n    exclude: [10.0.0.0/8, x]\nroutes:\n  tag: -1\n  distance: 0\nwhat: 1\n",
        says="config.refused",
    )

    for place in (":3:27:", ":5:8:", ":6:13:", ":7:1:"):
        assert f"/etc/planed/planed.yaml{place}" in said, said
    assert "faults=4" in said
    assert zebra.since(mark, "ROUTE_ADD", "ROUTE_DELETE") == []
    assert _settings(farm) == before
    # The old file is what is in force: a host that it allows still comes.
    late = farm.make_hosts(1, first=500)
    farm.learn(late)
    settle(zebra, prefixes_of(servers + late))


def test_file_that_has_gone_is_refused_too(farm: Farm, zebra: FakeZebra) -> None:
    servers = _start(farm, zebra)
    since = len(farm.planed.log())
    farm.leaf.path("/etc/planed/planed.yaml").unlink()

    farm.planed.send_signal(signal.SIGHUP)

    farm.planed.wait_log("config.refused", 5, since)
    settle(zebra, prefixes_of(servers))


def test_added_interface_announces_the_hosts_that_it_has_long_had(farm: Farm, zebra: FakeZebra) -> None:
    servers = _start(farm, zebra)
    farm.add_bridge("Vlan200", "10.1.0.1/24", ["swp4"])
    batch = rtnl.Batch()
    batch.forwarding(farm.leaf.ifindex("swp4"), "02:00:00:01:00:05")
    batch.neighbor(farm.leaf.ifindex("Vlan200"), "10.1.0.5", "02:00:00:01:00:05", rtnl.STALE)
    farm.send(batch)
    farm.kill(s for s in servers if s.port == "swp4")
    left = [s for s in servers if s.port != "swp4"]  # The port has left Vlan100.
    settle(zebra, prefixes_of(left))
    mark = zebra.mark()

    _reload(farm.planed, {"interfaces": [{"name": BRIDGE}, {"name": "Vlan200"}]})
    settle(zebra, prefixes_of(left) | {"10.1.0.5/32"}, deadline=1)
    _reload(farm.planed, _BASE)
    settle(zebra, prefixes_of(left), deadline=1)

    assert zebra.withdrawn(mark) == {"10.1.0.5/32"}


def test_interface_taken_out_is_as_it_was_before_planed(farm: Farm, zebra: FakeZebra) -> None:
    before = _settings(farm)
    servers = _start(farm, zebra)
    settle(zebra, prefixes_of(servers))
    assert _settings(farm) != before

    _reload(farm.planed, {"interfaces": []})

    settle(zebra, set(), deadline=1)
    wait_until(lambda: _settings(farm) == before, 2, what=f"not {before}")


def test_exclude_takes_and_gives_back_exactly_what_it_names(farm: Farm, zebra: FakeZebra) -> None:
    servers = _start(farm, zebra)
    settle(zebra, prefixes_of(servers))
    first, second = servers[:2]
    mark = zebra.mark()

    _reload(farm.planed, _served(exclude=[first.v4, f"{second.v6}/128"]))
    settle(zebra, prefixes_of(servers) - {f"{first.v4}/32", f"{second.v6}/128"}, deadline=1)
    _reload(farm.planed, _BASE)
    settle(zebra, prefixes_of(servers), deadline=1)

    assert zebra.withdrawn(mark) == {f"{first.v4}/32", f"{second.v6}/128"}


def test_prefixes_narrow_and_widen_what_is_announced(farm: Farm, zebra: FakeZebra) -> None:
    servers = _start(farm, zebra)

    _reload(farm.planed, _served(prefixes=["fd00:0:0:1::/64"]))
    settle(zebra, {f"{s.v6}/128" for s in servers}, deadline=1)
    _reload(farm.planed, _served(prefixes=["10.0.0.0/16"]))
    settle(zebra, {f"{s.v4}/32" for s in servers}, deadline=1)
    _reload(farm.planed, _BASE)
    settle(zebra, prefixes_of(servers), deadline=1)


def test_tag_distance_and_metric_replace_every_route_without_a_gap(farm: Farm, zebra: FakeZebra) -> None:
    servers = _start(farm, zebra)
    settle(zebra, prefixes_of(servers))
    mark = zebra.mark()
    was = next(iter(zebra.routes.values()))

    _reload(farm.planed, {**_BASE, "routes": {"tag": 77, "distance": 7, "metric": 3}})

    wanted = replace(was, tag=77, distance=7, metric=3)
    wait_until(lambda: set(zebra.routes.values()) == {wanted}, 2, what=f"not all routes are {wanted}")
    assert zebra.withdrawn(mark) == set()
    assert len(zebra.since(mark, "ROUTE_ADD")) == len(prefixes_of(servers))


def test_nexthop_form_changes_without_a_gap(farm: Farm, zebra: FakeZebra) -> None:
    servers = _start(farm, zebra)
    settle(zebra, prefixes_of(servers))
    mark = zebra.mark()

    _reload(farm.planed, {**_BASE, "routes": {"nexthop": "self"}})

    wait_until(lambda: all(r.gateway == p.split("/")[0] for p, r in zebra.routes.items()), 2)
    assert zebra.withdrawn(mark) == set()
    assert zebra.holds_exactly(prefixes_of(servers))


def test_uplinks_apply_at_once(make_farm: Callable[..., Farm]) -> None:
    farm = make_farm(uplinks=1)
    with FakeZebra(farm.zserv) as zebra:
        servers = _start(farm, zebra)
        settle(zebra, prefixes_of(servers))
        farm.cut("up1")

        _reload(farm.planed, {**_BASE, "uplinks": ["up1"]})
        settle(zebra, set(), deadline=1)
        _reload(farm.planed, {**_BASE, "uplinks": ["up1"], "uplinks_down": "shut"})
        wait_until(lambda: not any(farm.admin_up(port) for port in farm.ports), 2, what="server ports are not shut")
        _reload(farm.planed, _BASE)
        wait_until(lambda: all(farm.admin_up(port) for port in farm.ports), 2, what="server ports stay shut")
        farm.announce(servers)
        settle(zebra, prefixes_of(servers))
        farm.planed.stop()


def test_what_needs_a_restart_is_named_and_does_not_apply(farm: Farm, zebra: FakeZebra) -> None:
    servers = _start(farm, zebra)
    settle(zebra, prefixes_of(servers))
    mark = zebra.mark()

    said = _reload(farm.planed, {**_BASE, "frr": {"socket": "/run/elsewhere"}, "state_dir": "/var/lib/elsewhere"})

    assert "config.needs_restart" in said and "key=frr.socket" in said and "key=state_dir" in said
    holds_for(lambda: zebra.sessions == 1 and not _changes(zebra, mark), 0.5)


def test_a_hundred_reloads_in_a_row_end_with_the_last_file(farm: Farm, zebra: FakeZebra) -> None:
    servers = _start(farm, zebra)
    planed = farm.planed

    for number in range(100):
        planed.write_config({**_BASE, "routes": {"tag": number + 1}} if number % 3 else "nonsense: [\n")
        planed.send_signal(signal.SIGHUP)
    _reload(planed, {**_BASE, "routes": {"tag": 4711}})

    wait_until(lambda: {route.tag for route in zebra.routes.values()} == {4711}, 3)
    settle(zebra, prefixes_of(servers))
    assert zebra.withdrawn() == set()


def _changes(zebra: FakeZebra, mark: int) -> list[Message]:
    return zebra.since(mark, "ROUTE_ADD", "ROUTE_DELETE")


def _settings(farm: Farm) -> dict[str, str]:
    """What planed sets on an interface that it serves."""
    names = ["ipv4.conf.{}.arp_accept", "ipv4.conf.{}.proxy_arp", "ipv6.conf.{}.accept_untracked_na"]
    names += ["ipv4.neigh.{}.mcast_resolicit", "ipv6.neigh.{}.mcast_resolicit"]
    names += ["ipv4.neigh.{}.proxy_delay", "ipv4.neigh.{}.proxy_qlen"]
    keys = ["net." + name.format(BRIDGE) for name in names]
    return {key: farm.leaf.sysctl(key) for key in keys}
