# SPDX-License-Identifier: Apache-2.0
"""What remains when planed is told to stop."""

import signal

import pytest
from lab import Lab, Node, wait_until
from scene import SERVED, SOON, announce, guests, own, planed_config, prefixes_of, settle, start, wait_gone, wait_routes

SETTINGS = (
    f"net.ipv4.conf.{SERVED}.arp_accept",
    f"net.ipv4.conf.{SERVED}.proxy_arp",
    f"net.ipv4.neigh.{SERVED}.proxy_delay",
    f"net.ipv4.neigh.{SERVED}.proxy_qlen",
    f"net.ipv4.neigh.{SERVED}.mcast_resolicit",
    f"net.ipv6.neigh.{SERVED}.mcast_resolicit",
    f"net.ipv6.conf.{SERVED}.accept_untracked_na",
)


def settings_of(leaf: Node) -> dict[str, str]:
    return {key: leaf.sysctl(key) for key in SETTINGS}


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_keep_leaves_routes_and_settings_as_they_are(lab: Lab, sig: int) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    planed = start(leaf)
    host.announce(port="eth1")
    wait_routes(far, own(host))
    settings = settings_of(leaf)

    with lab.watch("leaf-a2") as watch:
        planed.send_signal(sig)
        assert planed.wait() == 0
        settle(1)

    watch.assert_silent()
    assert settings_of(leaf) == settings


def test_withdraw_takes_routes_and_settings_back(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    before = settings_of(leaf)
    planed = start(leaf, planed_config(leaf, on_exit="withdraw"))
    crowd = guests(50)
    host.announce(port="eth1")
    announce(host, crowd)
    wait_routes(far, own(host) + prefixes_of(crowd))
    assert settings_of(leaf) != before

    assert planed.stop() == 0

    wait_gone(far, own(host) + prefixes_of(crowd))
    wait_gone(leaf, own(host) + prefixes_of(crowd))
    assert settings_of(leaf) == before


def test_withdraw_means_only_a_stop_that_was_asked_for(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    planed = start(leaf, planed_config(leaf, on_exit="withdraw"))
    host.announce(port="eth1")
    wait_routes(far, own(host))

    with lab.watch("leaf-a2") as watch:
        planed.kill()
        settle(1)

    watch.assert_silent()


def test_planed_that_is_stopped_while_zebra_is_away_ends_all_the_same(lab: Lab) -> None:
    leaf = lab["leaf-a1"]
    planed = start(leaf)
    leaf.stop_frr()
    wait_until(lambda: "zebra" in planed.log(), SOON)

    assert planed.stop() == 0

    leaf.start_frr()
