# SPDX-License-Identifier: Apache-2.0
"""Goodbyes on either side, reloads, strangers, and what is shown of what peers have told."""

import socket

import pytest
from lab import Planed
from pair import ALL_TYPES, LEAF, SPEAKER, TWIN, Pair, Speaker, peer

FIELDS = "peer type rd esi tag mac ip gateway labels next_hop as_path communities stale since"


def test_bgpd_that_says_goodbye_takes_its_routes_along(pair: Pair) -> None:
    pair.start(listen=[LEAF])
    pair.wait_up()
    pair.wait_routes(lambda rows: len(rows) >= 2, "nothing was told")

    pair.configure_twin(f"neighbor {LEAF} shutdown message power work in rack 7")

    pair.wait_peer(lambda r: r["state"] != "established", "the session has not ended")
    pair.planed.wait_log(r"bgp\.peer\.down .*reason=notified routes=0 text=.*power work in rack 7")
    assert pair.routes() == []


@pytest.mark.parametrize("way", ["killed", "stopped", "withdrawn"])
def test_planed_comes_back(pair: Pair, way: str) -> None:
    on_exit = "withdraw" if way == "withdrawn" else "keep"
    planed: Planed = pair.leaf.start_planed({**pair.config(listen=[LEAF]), "on_exit": on_exit})
    pair.wait_up()
    pair.wait_established()

    if way == "killed":
        planed.kill()
    else:
        assert planed.stop() == 0
        row = pair.wait_neighbor(lambda n: n.get("bgpState") != "Established", "the session has not ended")
        # Who keeps its routes says no goodbye, for a peer would let go of them.
        said = "planed is stopping" in str(row.get("lastShutdownDescription", row))
        assert said == (way == "withdrawn"), row
    planed.start()

    pair.wait_up()
    pair.wait_established()


def test_reload_ends_and_begins_sessions(pair: Pair) -> None:
    pair.start(listen=[LEAF])
    pair.wait_up()

    pair.reload(pair.config(peer(), {"address": "10.66.0.9", "remote_as": 65009}, listen=[LEAF]))
    assert pair.peer()["sessions"] == 1 and pair.peer()["state"] == "established", "it was not to be disturbed"

    pair.reload(pair.config(peer(enabled=False), listen=[LEAF]))
    assert pair.peer()["state"] == "disabled"
    assert pair.routes() == []
    pair.wait_neighbor(lambda n: n.get("bgpState") != "Established", "bgpd was not told")

    pair.reload({"redis": {"endpoint": "off"}})
    assert pair.ctl.json("peers") == []

    pair.reload(pair.config(listen=[LEAF]))
    pair.wait_up()


def test_strangers_are_turned_away_and_counted(pair: Pair) -> None:
    pair.start(listen=["0.0.0.0"])
    pair.planed.wait_log(r"bgp\.listening")

    with pair.leaf.open_socket(socket.AF_INET, socket.SOCK_STREAM) as stranger:
        stranger.settimeout(5)
        stranger.bind((SPEAKER, 0))
        stranger.connect((LEAF, 179))
        assert stranger.recv(1) == b""

    pair.planed.wait_log(rf"bgp\.stranger .*address={SPEAKER}")
    counters = {row["name"]: row["value"] for row in pair.ctl.json("counters")}
    assert counters["evpn_strangers"] == 1
    assert counters["evpn_peers"] == 1


def test_without_evpn_there_is_nobody(pair: Pair) -> None:
    pair.leaf.start_planed({"redis": {"endpoint": "off"}})
    pair.planed.wait_log(r"milestone .*name=ZAPI_UP", 10)

    assert pair.ctl.json("peers") == []
    assert pair.routes() == []
    assert pair.ctl.text("peers") == "0 peers\n"


def test_routes_of_all_types_are_shown(pair: Pair) -> None:
    pair.start(listen=[LEAF])
    pair.wait_up()
    speaker = Speaker(pair)
    speaker.tell(*ALL_TYPES)

    rows = pair.wait_routes(lambda r: {row["type"] for row in r} == {1, 2, 3, 4, 5}, "not all types are there")

    assert list(rows[0]) == FIELDS.split()
    ours = {row["type"]: row for row in rows if row["rd"] == "10.66.0.3:100"}
    esi = "03:44:38:39:ff:ff:01:00:00:01"
    assert (ours[1]["esi"], ours[1]["tag"]) == (esi, 4294967295)
    assert (ours[2]["esi"], ours[2]["tag"]) == (esi, 100)
    assert (ours[2]["mac"], ours[2]["ip"]) == ("02:00:00:00:00:12", "45.0.0.12")
    assert ours[2]["labels"] == [0, 4001]
    assert (ours[4]["esi"], ours[4]["ip"]) == (esi, SPEAKER)
    assert (ours[5]["ip"], ours[5]["labels"]) == ("45.1.0.0/24", [4001])
    assert all(row["next_hop"] == SPEAKER and row["peer"] == TWIN for row in ours.values())
    assert "RT:65000:100" in ours[2]["communities"]
    multicast = next(row for row in rows if row["type"] == 3)
    assert (multicast["ip"], multicast["labels"], multicast["next_hop"]) == (TWIN, [100], TWIN)
    own = next(row for row in rows if row["type"] == 2 and row["mac"] == "02:00:00:00:00:11")
    assert (own["labels"], own["next_hop"]) == ([100], TWIN)
    assert [row["type"] for row in pair.routes("--type", "5")] == [5]
    assert pair.routes("--peer", "10.66.0.9") == []

    speaker.close()
    pair.wait_routes(lambda r: all(row["rd"] != "10.66.0.3:100" for row in r), "withdrawn routes are still shown")


def test_withdrawn_host_is_gone(pair: Pair) -> None:
    pair.start(listen=[LEAF])
    pair.wait_routes(lambda rows: any(row["mac"] == "02:00:00:00:00:11" for row in rows), "the host is not told")

    pair.twin.run(["bridge", "fdb", "del", "02:00:00:00:00:11", "dev", "port1", "master", "static"])

    pair.wait_routes(lambda rows: all(row["mac"] != "02:00:00:00:00:11" for row in rows), "the host is still there")


def test_too_many_routes_end_the_session(pair: Pair) -> None:
    pair.start(peer(max_prefixes=1), listen=[LEAF])

    row = pair.wait_peer(lambda r: "where 1 may be" in (r["last_error"] or ""), "the bound is not kept")

    assert row["state"] != "established"
    assert pair.routes() == []
