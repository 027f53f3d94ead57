# SPDX-License-Identifier: Apache-2.0
"""Somebody else has a route for the same host: planed yields, stays calm, and is there when the other one goes."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from lab import Lab, Node, Planed, wait_until
from lab import zapi_client as zapi
from scene import SERVED, SOON, own, settle, start, wait_gone, wait_routes

_OPENFABRIC_BEHIND_BABEL = 4  # In zebra's list of route types, in every release.
_FAMILIES = {"8.4": zapi.FAMILIES["A"], "10.3": zapi.FAMILIES["D"]}


@contextmanager
def another_zebra_client(lab: Lab, leaf: Node, routes: list[str]) -> Iterator[None]:
    """A daemon of another kind, with a better distance."""
    family = _FAMILIES[lab.frr]
    rival = dataclasses.replace(family, babel=family.babel + _OPENFABRIC_BEHIND_BABEL)
    with zapi.ZapiClient(zapi._connect(leaf.zserv), rival) as client:
        client.send(zapi.hello(rival) + (b"" if rival.hello_notifies else zapi.message(rival.notify_request, b"\1")))
        for route in routes:
            client.add(route, leaf.ifindex(SERVED), distance=1)
        client.wait_acks(len(routes), zapi.Ack.INSTALLED, SOON)
        yield


@contextmanager
def static_route(lab: Lab, leaf: Node, routes: list[str]) -> Iterator[None]:
    """An operator's route in the kernel: distance 0 to zebra."""
    leaf.ip_batch([f"route add {route} dev {SERVED} proto static" for route in routes])
    try:
        yield
    finally:
        leaf.ip_batch([f"route del {route} dev {SERVED} proto static" for route in routes])


RIVALS = pytest.mark.parametrize("rival", [another_zebra_client, static_route])
Rival = Callable[[Lab, Node, list[str]], "contextmanager[None]"]


def assert_calm(planed: Planed, seconds: float = 1.5) -> None:
    """It neither spins nor fills its log."""
    cpu, lines = planed.cpu_seconds(), planed.log().count("\n")
    settle(seconds)
    assert planed.cpu_seconds() - cpu < 0.2 * seconds
    assert planed.log().count("\n") - lines < 20 * seconds


@RIVALS
def test_our_route_returns_when_a_better_one_goes(lab: Lab, rival: Rival) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    planed = start(leaf)
    host.announce(port="eth1")
    wait_routes(far, own(host))

    with rival(lab, leaf, own(host)):
        wait_gone(far, own(host))
        assert_calm(planed)

    wait_routes(far, own(host))
    host.cut("eth1")
    wait_gone(far, own(host))


@RIVALS
def test_our_route_comes_when_a_better_one_that_was_there_first_goes(lab: Lab, rival: Rival) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    planed = start(leaf)
    with rival(lab, leaf, own(host)):
        host.announce(port="eth1")
        wait_until(lambda: host.v4 in leaf.neighbors(SERVED) and host.v6 in leaf.neighbors(SERVED), SOON)
        assert_calm(planed, 3)

    wait_routes(far, own(host))


@RIVALS
def test_a_host_that_dies_under_a_better_route_does_not_return_with_its_end(lab: Lab, rival: Rival) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    start(leaf)
    host.announce(port="eth1")
    wait_routes(far, own(host))

    with lab.watch("leaf-a2") as watch:
        with rival(lab, leaf, own(host)):
            wait_gone(far, own(host))
            host.cut("eth1")
            settle()
            under = len(watch.changes)
        settle(1)
    assert not watch.changes[under:]


def test_routes_that_another_client_of_our_kind_takes_along_are_put_back(lab: Lab) -> None:
    """zebra drops the routes of a type with the first of its clients that leaves."""
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    start(leaf)
    host.announce(port="eth1")
    wait_routes(far, own(host))

    with lab.watch("leaf-a1") as watch:
        with zapi.ZapiClient.connect(leaf.zserv) as client:
            client.add("10.0.77.77/32", leaf.ifindex(SERVED))  # planed takes it out again: it is of its kind.
            wait_until(lambda: watch.arrived("10.0.77.77/32"), SOON)
        wait_until(lambda: watch.left(own(host)[0]), SOON)
        wait_routes(leaf, own(host))

    wait_routes(far, own(host))


def test_routes_of_our_kind_that_nobody_wants_are_removed_at_the_start(lab: Lab) -> None:
    leaf, far = lab["leaf-a1"], lab["leaf-a2"]
    orphans = ["10.0.77.1/32", "10.0.77.2/32", "fd00:0:0:1::7777/128"]
    with zapi.ZapiClient.connect(leaf.zserv) as client:
        keep = b"\0\0\0\1" + b"\0\0\3\x84" + b"\0\0\0\0"  # Graceful restart, 900 s, default VRF.
        client.send(zapi.message(client.family.client_capabilities, keep))
        for orphan in orphans:
            client.add(orphan, leaf.ifindex(SERVED))
        wait_routes(far, orphans)
    settle(1.1)
    wait_routes(far, orphans)

    start(leaf)

    wait_gone(far, orphans)
