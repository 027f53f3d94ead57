# SPDX-License-Identifier: Apache-2.0
"""What metrics say of a leaf, by planectl."""

from farm import BRIDGE, Farm, prefixes_of, quick, settle
from lab import wait_until
from planectl import Ctl
from support.fake_zebra import FakeZebra


def test_metrics_say_what_the_other_verbs_say(leaf: Ctl) -> None:
    metrics = leaf.metrics()

    assert metrics.value("planed_node_info", node="leaf-a1", plane="A", version=leaf.json("version")["planed"]) == 1
    assert metrics["planed_ready"] == 1 and metrics["planed_degraded_conditions"] == len(leaf.json("status")["degraded"])
    assert (metrics["planed_hosts"], metrics["planed_hosts_eligible"]) == (8, 8)
    assert metrics.value("planed_routes", state="installed") == 8
    assert metrics.value("planed_interface_hosts", interface=BRIDGE, vrf="default") == 8
    assert metrics.value("planed_interface_max_hosts", interface=BRIDGE, vrf="default") == 16384
    assert metrics["planed_zebra_connected"] == 1 and metrics.value("planed_zebra_info", release="FRR 8.4 to 9.0") == 1
    assert 0 <= metrics["planed_oldest_proof_seconds"] < 60 and metrics["planed_uptime_seconds"] > 0
    assert leaf.json("metrics")["text"].endswith("# EOF\n")


def test_every_counter_is_a_metric_that_says_what_it_is(leaf: Ctl) -> None:
    counters = {row["name"] for row in leaf.json("counters")}

    metrics = leaf.metrics()

    names = {name.removesuffix("_us") + "_seconds" if name.endswith("_us") else name for name in counters}
    assert {f"planed_{name}" for name in names} <= set(metrics.families)
    assert [family.name for family in metrics.families.values() if family.type == "unknown" or not family.help] == []


def test_latencies_are_taken_of_hosts_that_come_and_of_ports_that_go(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    before = leaf.metrics()
    assert before["planed_port_down_to_withdrawn_seconds_count"] == 0
    old, new = farm.make_hosts(4), farm.make_hosts(3, first=20)
    farm.learn(new)
    settle(zebra, prefixes_of([*old, *new]))

    wait_until(lambda: leaf.metrics()["planed_learn_to_installed_seconds_count"] >= 6, quick(5), what="six were learned")
    farm.cut("swp1")
    gone = [server for server in [*old, *new] if server.port == "swp1"]
    settle(zebra, prefixes_of([server for server in [*old, *new] if server not in gone]))

    def withdrawn() -> bool:
        return leaf.metrics()["planed_port_down_to_withdrawn_seconds_count"] == 2 * len(gone)

    wait_until(withdrawn, quick(5), what="the withdrawals of swp1 are counted")
    assert leaf.metrics()["planed_port_down_to_withdrawn_seconds_sum"] < quick(2) * 2 * len(gone)


def test_what_is_wrong_has_a_label(zebra: FakeZebra, leaf: Ctl) -> None:
    zebra.stop()
    wait_until(lambda: not leaf.json("status")["frr"]["connected"], quick(5), what="zebra is gone")

    metrics = leaf.metrics()

    assert metrics["planed_zebra_connected"] == 0 and metrics.value("planed_degraded", what="zebra") == 1
    assert "planed_zebra_info" not in metrics.names()
    zebra.start()
