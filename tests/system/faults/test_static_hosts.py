# SPDX-License-Identifier: Apache-2.0
"""Hosts that the configuration names, and addresses that two hosts claim."""

import dataclasses
import signal
import time

from farm import BRIDGE, READY, Farm, Server, prefixes_of, settle
from lab import wait_until
from support.fake_zebra import FakeZebra


def _static(*servers: Server, mac: bool = True, port: bool = False) -> list[dict[str, str]]:
    return [
        {"address": address, **({"mac": server.mac} if mac else {}), **({"port": server.port} if port else {})}
        for server in servers
        for address in (server.v4, server.v6)
    ]


def _entry(farm: Farm, address: str) -> dict[str, object]:
    return farm.leaf.neighbors(BRIDGE).get(address, {})


def test_static_host_is_permanent_and_follows_its_port(farm: Farm, zebra: FakeZebra) -> None:
    (server,) = farm.make_hosts(1, ports=["swp2"])
    planed = farm.start_planed({"interfaces": [{"name": BRIDGE, "hosts": _static(server, port=True)}]})
    settle(zebra, server.prefixes)
    planed.wait_log(READY, 5)
    for address in (server.v4, server.v6):
        assert _entry(farm, address)["state"] == ["PERMANENT"]
        assert _entry(farm, address)["lladdr"] == server.mac

    farm.cut("swp2")
    settle(zebra, set())
    farm.restore("swp2")
    settle(zebra, server.prefixes)


def test_static_host_comes_back_after_its_interface_was_down(farm: Farm, zebra: FakeZebra) -> None:
    (server,) = farm.make_hosts(1)
    farm.start_planed({"interfaces": [{"name": BRIDGE, "hosts": _static(server)}]})
    settle(zebra, server.prefixes)

    farm.leaf.ip_batch([f"link set {BRIDGE} down"])  # The kernel drops its permanent neighbours, too.
    settle(zebra, set())
    farm.leaf.ip_batch([f"link set {BRIDGE} up"])

    wait_until(lambda: _entry(farm, server.v4).get("state") == ["PERMANENT"], 5)
    wait_until(lambda: zebra.holds(f"{server.v4}/32"), 5)


def test_static_host_of_an_unknown_mac_is_asked_for(farm: Farm, zebra: FakeZebra) -> None:
    (server,) = farm.make_hosts(1)
    config = {"interfaces": [{"name": BRIDGE, "hosts": _static(server, mac=False)}], "learning": {"refresh": "2s"}}
    planed = farm.start_planed(config)
    planed.wait_log(READY, 5)
    assert not zebra.holds(*server.prefixes)

    farm.revive([server])  # It says nothing by itself.

    settle(zebra, server.prefixes, deadline=2 + 4)


def test_wrong_speaker_for_a_static_host_moves_nothing(farm: Farm, zebra: FakeZebra) -> None:
    (server,) = farm.make_hosts(1, ports=["swp1"])
    planed = farm.start_planed({"interfaces": [{"name": BRIDGE, "hosts": _static(server)}]})
    settle(zebra, server.prefixes)
    planed.wait_log(READY, 5)
    mark = zebra.mark()

    farm.announce([dataclasses.replace(server, mac="02:66:00:00:00:01", port="swp2")])

    planed.wait_log(f'degraded.begin .*what="claim of {server.v4}" .*02:66:00:00:00:01', 5)
    assert _entry(farm, server.v4)["lladdr"] == server.mac
    assert not zebra.withdrawn(mark)


def test_host_that_is_static_no_more_stays_if_it_answers(farm: Farm, zebra: FakeZebra) -> None:
    alive, dead = farm.make_hosts(2)
    farm.revive([alive])
    planed = farm.start_planed({"interfaces": [{"name": BRIDGE, "hosts": _static(alive, dead)}]})
    settle(zebra, prefixes_of([alive, dead]))
    planed.wait_log(READY, 5)
    mark = zebra.mark()

    planed.write_config({"interfaces": [{"name": BRIDGE}]})
    planed.send_signal(signal.SIGHUP)

    settle(zebra, alive.prefixes, deadline=6 + 1)
    assert not zebra.withdrawn(mark) & set(alive.prefixes)
    assert _entry(farm, alive.v4)["state"] != ["PERMANENT"]


def test_address_that_two_hosts_claim_stays_with_the_first(farm: Farm, zebra: FakeZebra) -> None:
    (server,) = farm.make_hosts(1, ports=["swp1"])
    farm.learn([server])
    rival = dataclasses.replace(server, mac="02:66:00:00:00:01", port="swp2")
    duplicates = {"max_moves": 3, "window": "60s", "freeze": "3s"}
    planed = farm.start_planed({"interfaces": [{"name": BRIDGE}], "learning": {"duplicates": duplicates}})
    settle(zebra, server.prefixes)
    planed.wait_log(READY, 5)
    mark = zebra.mark()

    for claimant in (rival, server, rival):
        time.sleep(1.2)  # The kernel takes another MAC once a second (locktime, net/core/neighbour.c).
        farm.announce([claimant])

    planed.wait_log(f'degraded.begin .*what="address {server.v4}" .*{server.mac}', 5)
    wait_until(lambda: _entry(farm, server.v4).get("state") == ["PERMANENT"], 5)
    assert _entry(farm, server.v4)["lladdr"] == server.mac
    farm.announce([rival])
    planed.wait_log(f'degraded.end .*what="address {server.v4}"', 10)
    wait_until(lambda: _entry(farm, server.v4).get("state") not in (["PERMANENT"], ["PROBE"]), 10)
    assert _entry(farm, server.v4)["lladdr"] == server.mac
    assert not zebra.withdrawn(mark) & set(server.prefixes)
