# SPDX-License-Identifier: Apache-2.0
"""Two leaves that give one server different segments: each says so and names the other; no living host pays for it."""

from typing import Any

import pytest
from lab import Node, wait_until
from planectl import Ctl
from twins import ADDRESS, SOON, Twins

pytestmark = pytest.mark.one_release

RIGHT, WRONG = "03:44:38:39:ff:ff:01:00:00:01", "03:44:38:39:ff:ff:01:00:00:09"


def _mistaken(twins: Twins) -> list[dict[str, Any]]:
    """leaf-b's segments, the first with another number than leaf-a's."""
    first, second = (twins.segment(twins.b, number) for number in (1, 2))
    return [{**first, "id": 9}, second]


def _alarms(leaf: Node) -> list[str]:
    return [text for text in Ctl(leaf).json("status")["degraded"] if text.startswith("evpn.")]


def _wait_alarm(leaf: Node, words: str) -> None:
    wait_until(lambda: any(words in text for text in _alarms(leaf)), SOON, every=0.1, what=f"{leaf.name}: no alarm")


def test_server_with_two_segments_is_an_alarm_until_it_is_mended(twins: Twins) -> None:
    server = twins.server
    twins.start(twins.a)
    twins.start(twins.b, segments=_mistaken(twins))
    for leaf in twins.leaves:
        twins.wait_up(leaf)
    server.announce()
    for leaf in twins.leaves:
        twins.wait_route(leaf, server.v4, server.v6)

    with twins.none_leaves(server.v4, server.v6):
        on = f"evpn.esi_mismatch {server.mac}: {server.mac} is on our segment"
        _wait_alarm(twins.a, f"{on} {RIGHT} and with ESI {WRONG} on leaf {ADDRESS['leaf-b']}")
        _wait_alarm(twins.b, f"{on} {WRONG} and with ESI {RIGHT} on leaf {ADDRESS['leaf-a']}")
        # Each outbids the other a few times; then one of them stops, or they would fill the link for ever.
        wait_until(
            lambda: any("; its number stays at" in text for leaf in twins.leaves for text in _alarms(leaf)),
            SOON,
            every=0.1,
            what="no end of the moves",
        )
        for leaf in twins.leaves:
            row = twins.host(leaf, server.v4)
            assert row is not None and row["eligible"] and row["origin"] != "evpn", row
        shown = {leaf.name: Ctl(leaf).json("segments") for leaf in twins.leaves}
        assert {row["port"]: row["esi"] for row in shown["leaf-b"]}["swp1"] == WRONG, shown
        assert all(row["announced"] and row["synced_hosts"] == 0 for rows in shown.values() for row in rows), shown
        assert "evpn.esi_mismatch" in Ctl(twins.b).text("status")

        twins.reload(twins.b)
        for leaf in twins.leaves:
            wait_until(lambda: not _alarms(leaf), SOON, every=0.1, what=f"{leaf.name}: the alarm stays")

    # From now on they share it.
    wait_until(
        lambda: [row["synced_hosts"] for leaf in twins.leaves for row in Ctl(leaf).json("segments")] == [2, 0, 2, 0],
        SOON,
        every=0.1,
        what="the server is not shared",
    )
    assert {row["esi"] for leaf in twins.leaves for row in Ctl(leaf).json("segments")[:1]} == {RIGHT}
