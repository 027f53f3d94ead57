# SPDX-License-Identifier: Apache-2.0
"""Sessions come up, end for a reason that is told, and come back."""

import signal

from pair import LEAF, TWIN, Pair, peer

FIELDS = (
    "address remote_as description state since passive routes max_prefixes messages_received messages_sent "
    "updates_received updates_sent sessions faults last_error last_error_at router_id hold_time_ms capabilities "
    "end_of_rib"
)


def test_planed_connects(pair: Pair) -> None:
    pair.configure_twin(f"neighbor {LEAF} passive")
    pair.wait_ready()
    pair.start()

    row = pair.wait_up()

    assert list(row) == FIELDS.split()
    assert row["remote_as"] == 65000
    assert row["router_id"] == TWIN
    assert row["hold_time_ms"] == 9000
    assert {"l2vpn_evpn", "route_refresh", "four_octet_as", "graceful_restart"} <= set(row["capabilities"])
    assert row["messages_received"] >= 3 and row["messages_sent"] >= 3
    assert row["last_error"] in (None, "")
    neighbor = pair.wait_established()
    assert neighbor["portLocal"] == 179, "bgpd has connected"


def test_planed_is_connected_to(pair: Pair) -> None:
    pair.start(peer(passive=True), listen=[LEAF])

    pair.wait_up()

    neighbor = pair.wait_established()
    assert neighbor["portForeign"] == 179, "planed has connected"


def test_both_connect_and_one_session_stays(pair: Pair) -> None:
    pair.start(listen=[LEAF, "fd00:66::1"])

    row = pair.wait_up()

    assert row["sessions"] == 1
    assert pair.wait_established()["connectionsDropped"] == 0


def test_same_password_comes_up_and_another_one_is_named(pair: Pair) -> None:
    pair.configure_twin(f"neighbor {LEAF} password s3cret")
    pair.start(peer(password="an0ther"))
    row = pair.wait_peer(lambda r: "passwords" in (r["last_error"] or ""), "the password is not suspected")
    assert row["state"] != "established"

    pair.reload(pair.config(peer(password="s3cret")))

    pair.wait_up()
    assert "s3cret" not in pair.planed.log() and "an0ther" not in pair.planed.log()
    assert "s3cret" not in pair.ctl.text("config", "show")


def test_password_guards_the_listening_side_too(pair: Pair) -> None:
    pair.configure_twin(f"neighbor {LEAF} password s3cret")
    pair.start(peer(password="s3cret", passive=True), listen=["0.0.0.0"])

    pair.wait_up()


def test_peer_of_the_same_link_is_near_enough(pair: Pair) -> None:
    pair.configure_twin(f"neighbor {LEAF} ttl-security hops 1")
    pair.start(peer(ttl_security=1), listen=[LEAF])

    pair.wait_up()


def test_wrong_as_is_told_on_both_sides(pair: Pair) -> None:
    pair.configure_twin(f"neighbor {LEAF} passive")
    pair.wait_ready()
    pair.start(peer(remote_as=65001))

    pair.wait_peer(lambda r: "AS 65000 instead of 65001" in (r["last_error"] or ""), "it is not told")

    assert pair.planed.wait_log(r"bgp\.peer\.failed .*peer=10\.66\.0\.2") >= 0


def test_killed_bgpd_comes_back_and_its_routes_are_kept_meanwhile(pair: Pair) -> None:
    pair.start(listen=[LEAF])
    pair.wait_up()
    before = pair.wait_routes(lambda rows: len(rows) >= 2, "nothing was told")

    pair.twin.kill_daemon("bgpd")
    pair.wait_peer(lambda r: r["state"] != "established", "the session has not ended")
    pair.planed.wait_log(r"bgp\.peer\.down .*peer=10\.66\.0\.2 reason=lost")
    stale = pair.routes()
    assert len(stale) == len(before) and all(row["stale"] for row in stale)

    pair.twin.start_daemon("bgpd")
    pair.wait_up(sessions=2)
    pair.wait_routes(
        lambda rows: len(rows) == len(before) and not any(row["stale"] for row in rows), "routes are not back"
    )


def test_stopped_bgpd_runs_into_the_hold_timer(pair: Pair) -> None:
    pair.start(peer(hold_time="3s"), listen=[LEAF])
    pair.wait_up()
    pid = pair.twin.frr_pids["bgpd"]
    pair.twin.run(["kill", f"-{signal.SIGSTOP.value}", str(pid)])
    try:
        pair.wait_peer(lambda r: r["state"] != "established", "the hold timer has not ended the session")
        pair.planed.wait_log(r"bgp\.peer\.down .*reason=hold_expired")
    finally:
        pair.twin.run(["kill", f"-{signal.SIGCONT.value}", str(pid)])

    pair.wait_up(sessions=2)
