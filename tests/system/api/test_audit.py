# SPDX-License-Identifier: Apache-2.0
"""planectl audit: what foreign hands have done is told, what is under way is not, and nobody waits for ever."""

import json
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from farm import BRIDGE, READY, Farm, prefixes_of, quick
from lab import wait_until
from planectl import Ctl
from support import rtnl
from support.fake_zebra import FakeZebra, Route

_CONFIG = {"interfaces": [{"name": BRIDGE}], "redis": {"endpoint": "off"}}
FIELDS = "where kind vrf interface object wanted found action".split()


@pytest.fixture
def leaf(farm: Farm, zebra: FakeZebra, ctl: Ctl) -> Ctl:
    """planed is ready, with four hosts (two addresses each) behind four ports, and without Redis."""
    farm.learn(farm.make_hosts(4))
    farm.start_planed(_CONFIG).wait_log(READY, quick(5))
    return ctl


def audit(ctl: Ctl, *words: str) -> list[dict[str, Any]]:
    """The differences; the exit code must say whether there are any."""
    done = ctl.run("audit", "-o", "json", "--timeout", "20s", *words)
    assert done.returncode in (0, 1) and not done.stderr, f"exit {done.returncode}: {done.stderr}"
    differences: list[dict[str, Any]] = json.loads(done.stdout)
    assert (done.returncode == 1) == bool(differences), done.stdout
    assert all(list(row) == FIELDS for row in differences)
    return differences


def in_short(differences: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    return {(row["where"], row["kind"], row["object"]) for row in differences}


def quiet(ctl: Ctl) -> None:
    """Whatever has been told before is healed."""
    wait_until(lambda: not audit(ctl), quick(10), what="no differences")


def counters(ctl: Ctl) -> dict[str, int]:
    return {row["name"]: row["value"] for row in ctl.json("counters")}


def test_a_quiet_leaf_has_no_differences(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    assert audit(leaf) == []

    began = time.monotonic()
    lines = leaf.text("audit", "--timeout", "20s").splitlines()
    assert time.monotonic() - began < quick(2.5)  # Read-backs of zebra are a second apart.
    assert lines[0].split() == ["WHERE", "TABLE", "ENTRIES", "READ"]
    read = {line.split()[1]: line.split()[2:] for line in lines[1:9]}
    assert [read[table][0] for table in ("neighbors", "forwarding", "routes", "proxies")] == ["8", "4", "8", "0"]
    assert int(read["settings"][0]) > 10 and read["rows"] == ["-", "off"]
    assert all(re.fullmatch(r"\d{4}-.*T.*Z", at[1]) for table, at in read.items() if table != "rows")
    assert lines[-1] == "no differences"
    assert leaf.text("audit", "--no-headers", "--timeout", "20s") == ""
    assert leaf.text("audit", "-o", "jsonl", "--timeout", "20s") == ""


def test_routes_that_zebra_holds_otherwise_are_told_and_healed(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    index = farm.leaf.ifindex(BRIDGE)
    zebra.lose("10.0.1.2/32")
    zebra.plant("10.0.1.3/32", Route(index, distance=5, metric=9, tag=100))
    zebra.plant("10.0.77.7/32", Route(index, distance=5, tag=100))

    differences = audit(leaf)

    ours = f"dev {BRIDGE} distance 5 metric 0 tag 100"
    assert [(row["object"], row["wanted"], row["found"], row["action"]) for row in differences] == [
        ("10.0.1.2/32", ours, "", "sent again"),
        ("10.0.1.3/32", ours, f"dev {BRIDGE} distance 5 metric 9 tag 100", "sent again"),
        ("10.0.77.7/32", "", ours, "removed"),
    ]
    assert {(row["where"], row["kind"], row["vrf"], row["interface"]) for row in differences} == {
        ("zebra", "route", "default", BRIDGE)
    }
    wait_until(lambda: zebra.holds_exactly(prefixes_of(farm.make_hosts(4))), quick(5))
    quiet(leaf)
    assert counters(leaf)["audit_differences_routes"] == 3


def test_what_the_kernel_lost_or_was_told_by_others_is_told(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    for end in ("aa", "ab"):
        zebra.learn(f"fd00:0:0:1::{end}/128")
    wait_until(lambda: [row["state"] for row in leaf.json("proxies")] == ["installed"] * 2, quick(5))
    quiet(leaf)
    farm.leaf.run(["ip", "-6", "neigh", "del", "proxy", "fd00:0:0:1::aa", "dev", BRIDGE])
    farm.leaf.run(["ip", "-6", "neigh", "add", "proxy", "fd00:0:0:1::cc", "dev", BRIDGE, "protocol", "201"])
    farm.leaf.sysctl(f"net.ipv4.conf.{BRIDGE}.proxy_arp", 0)

    differences = audit(leaf)

    assert [(row["kind"], row["object"], row["wanted"], row["found"], row["action"]) for row in differences] == [
        ("proxy", "fd00:0:0:1::aa", "there", "", "written again"),
        ("proxy", "fd00:0:0:1::cc", "", "there", "removed"),
        ("setting", f"ipv4.conf.{BRIDGE}.proxy_arp", "1", "0", "set again"),
    ]
    assert {row["where"] for row in differences} == {"kernel"}
    quiet(leaf)
    lines = farm.leaf.run(["ip", "-6", "neigh", "show", "proxy", "dev", BRIDGE]).stdout.splitlines()
    assert {line.split()[0] for line in lines} == {"fd00:0:0:1::aa", "fd00:0:0:1::ab"}


def test_differences_as_a_table_end_with_their_number(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    zebra.lose("10.0.1.5/32")

    done = leaf.run("audit", "--timeout", "20s")

    assert done.returncode == 1 and not done.stderr
    titles, row, count = done.stdout.splitlines()[-3:]
    assert titles.split() == [field.upper() for field in FIELDS]
    assert row.split()[:5] == ["zebra", "route", "default", BRIDGE, "10.0.1.5/32"]
    assert count == "1 difference"


def test_hosts_that_come_and_go_meanwhile_are_no_differences(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    """Dumps that are ahead of their notifications, routes that were just sent: a wrong audit takes them for lost."""
    guests = farm.make_hosts(100, first=200)
    those, all_others = prefixes_of(guests), prefixes_of(farm.make_hosts(4))
    until = time.monotonic() + quick(6)
    rounds = 0

    def audits() -> list[dict[str, Any]]:
        found = []
        while time.monotonic() < until:
            found += audit(leaf)
        return found

    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(audits)
        while not found.done():
            farm.learn(guests)
            farm.learn(guests, rtnl.STALE)
            wait_until(lambda: zebra.holds_exactly(those | all_others), quick(5))
            farm.unlearn(guests)
            wait_until(lambda: zebra.holds_exactly(all_others), quick(5))
            rounds += 1

    assert rounds > 3
    assert counters(leaf)["netlink_overruns"] == 0, "too much at once: what is lost may be told"
    assert in_short(found.result()) == set()


def test_without_zebra_that_is_the_difference(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    zebra.stop()
    wait_until(lambda: not leaf.json("status")["frr"]["connected"], quick(5), what="zebra is gone")

    (difference,) = audit(leaf)

    assert difference == {
        "where": "zebra", "kind": "table", "vrf": "", "interface": "", "object": "routes",
        "wanted": "read", "found": "not connected", "action": "connects again",
    }  # fmt: skip
    zebra.start()
    wait_until(lambda: leaf.json("status")["frr"]["connected"], quick(5), what="zebra is back")
    quiet(leaf)


def test_a_zebra_that_does_not_read_is_told_in_time_and_holds_nobody_up(
    farm: Farm, zebra: FakeZebra, leaf: Ctl
) -> None:
    zebra.stall()
    began = time.monotonic()

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(leaf.run, "audit", "-o", "json", "--timeout", "4s")
        while not done.done():
            assert leaf.json("status")["ready"]

    assert done.result().returncode == 1, done.result().stderr
    assert time.monotonic() - began < quick(4.5)
    (difference,) = json.loads(done.result().stdout)
    assert (difference["object"], difference["found"]) == ("routes", "not read in time")
    zebra.resume()
    quiet(leaf)


def test_who_asks_and_goes_leaves_nothing_behind(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    zebra.stall()
    gone = [
        farm.leaf.popen([str(leaf.path), "audit", "--timeout", "60s"], stdout=subprocess.DEVNULL) for _ in range(4)
    ]
    wait_until(lambda: counters(leaf)["api_tables"] == 4, quick(5), what="four ask")

    for client in gone:
        client.kill()
        client.wait()

    wait_until(lambda: counters(leaf)["api_tables"] == 0, quick(5), what="they are gone")
    zebra.resume()
    quiet(leaf)


def test_those_who_ask_together_are_told_the_same(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    quiet(leaf)
    before = counters(leaf)["audits"]
    zebra.lose("10.0.1.2/32")

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: audit(leaf), range(6)))

    # Who came while one went on has waited for the next, which finds it healed.
    assert [a for a in answers if a] and all(in_short(a) <= {("zebra", "route", "10.0.1.2/32")} for a in answers)
    assert counters(leaf)["audits"] - before <= 3
