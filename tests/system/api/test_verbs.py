# SPDX-License-Identifier: Apache-2.0
"""Every verb against a planed that runs: the fields that scripts rely on, tables, exit codes."""

import json
import re
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml
from farm import Farm, quick
from lab import wait_until
from planectl import Ctl
from support.fake_zebra import FakeZebra

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")

FIELDS = {
    "status": "name plane version ready degraded drained milestones frr redis netlink hosts drains plugins",
    "interfaces": "name ifindex vrf carrier proxy_arp proxy_nd hosts max_hosts prefixes",
    "hosts": "vrf interface address mac port state origin eligible reason answers since "
    "last_seen last_answer last_heard last_data denied",
    "routes": "vrf prefix interface origin state reason since",
    "proxies": "interface address state",
    "explain": "address verdict reason chain",
}


def test_status_says_in_one_object_whether_the_leaf_is_well(leaf: Ctl) -> None:
    status = leaf.json("status")

    assert list(status) == FIELDS["status"].split()
    assert (status["name"], status["plane"], status["ready"]) == ("leaf-a1", "A", True)
    assert [m["name"] for m in status["milestones"]][0::5] == ["CONFIG_LOADED", "READY"]
    assert all(_TIME.fullmatch(m["at"]) for m in status["milestones"])
    assert status["frr"] == {
        "connected": True, "release": "FRR 8.4 to 9.0",
        "routes_desired": 8, "routes_installed": 8, "routes_rejected": 0,
    }  # fmt: skip
    assert status["hosts"] == {"total": 8, "eligible": 8}
    assert list(status["netlink"]) == ["overruns", "resyncs"] and list(status["redis"]) == ["connected"]


def test_status_says_what_is_wrong(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    zebra.stop()

    wait_until(lambda: not leaf.json("status")["frr"]["connected"], quick(5), what="zebra is gone")

    status = leaf.json("status")
    assert any(what.startswith("zebra: ") for what in status["degraded"])
    assert status["frr"]["release"] == ""
    assert "degraded    " in leaf.text("status") and "degraded    no" not in leaf.text("status")
    zebra.start()
    wait_until(lambda: leaf.json("status")["frr"]["connected"], quick(5), what="zebra is back")


def test_interfaces_are_shown_with_their_hosts(leaf: Ctl) -> None:
    (interface,) = leaf.json("interfaces")

    assert list(interface) == FIELDS["interfaces"].split()
    assert (interface["name"], interface["vrf"], interface["carrier"], interface["hosts"]) == ("Vlan100", "default", True, 8)
    assert interface["prefixes"] == ["10.0.0.0/16", "fd00:0:0:1::/64"]
    assert leaf.text("interfaces").splitlines()[-1] == "1 interface"


def test_hosts_are_shown_and_filtered(farm: Farm, leaf: Ctl) -> None:
    hosts = leaf.json("hosts")

    assert {host["address"] for host in hosts} == {a for s in farm.make_hosts(4) for a in (s.v4, s.v6)}
    assert all(list(host) == FIELDS["hosts"].split() for host in hosts)
    host = next(host for host in hosts if host["address"] == "10.0.1.2")
    assert (host["vrf"], host["interface"], host["mac"]) == ("default", "Vlan100", "02:00:00:00:01:02")
    assert (host["origin"], host["eligible"], host["reason"]) == ("kernel", True, "eligible")
    assert host["state"] in ("REACHABLE", "STALE", "DELAY", "PROBE") and _TIME.fullmatch(host["since"])
    assert leaf.json("hosts", "--port", host["port"]) and leaf.json("hosts", "--port", "nowhere") == []
    assert {h["port"] for h in leaf.json("hosts", "--port", host["port"])} == {host["port"]}
    assert len(leaf.json("hosts", "--interface", "Vlan100", "--vrf", "default")) == 8
    assert "planectl interfaces lists them" in leaf.fails(1, "hosts", "--interface", "Vlan7")
    assert "no served interface in VRF blue" in leaf.fails(1, "hosts", "--vrf", "blue")


def test_hosts_as_a_table_are_in_the_order_of_people(farm: Farm, leaf: Ctl) -> None:
    farm.learn(farm.make_hosts(8, first=5))
    wait_until(lambda: len(leaf.json("hosts")) == 24, quick(5), what="24 hosts")

    lines = leaf.text("hosts").splitlines()

    assert lines[0].split()[:4] == ["VRF", "INTERFACE", "ADDRESS", "MAC"]
    assert [line.split()[2] for line in lines[1:13]] == [f"10.0.1.{n}" for n in range(2, 14)]
    assert lines[-1] == "24 hosts"
    assert "\x1b" not in "".join(lines)
    assert "\x1b[32m" in leaf.text("hosts", "--color", "always")
    assert len(leaf.text("hosts", "--no-headers").splitlines()) == 24


def test_routes_are_shown_with_zebras_word(leaf: Ctl) -> None:
    routes = leaf.json("routes")

    assert len(routes) == 8 and all(list(route) == FIELDS["routes"].split() for route in routes)
    route = next(route for route in routes if route["prefix"] == "10.0.1.2/32")
    assert (route["interface"], route["origin"], route["state"]) == ("Vlan100", "kernel", "installed")
    assert _TIME.fullmatch(route["since"])
    assert leaf.text("routes").splitlines()[-1] == "8 routes"


def test_proxies_are_the_hosts_of_other_leaves(zebra: FakeZebra, leaf: Ctl) -> None:
    assert leaf.json("proxies") == [] and leaf.text("proxies").splitlines() == ["0 proxied hosts"]

    for address in ("fd00:0:0:1::aa", "fd00:0:0:1::ab"):
        zebra.learn(f"{address}/128")
    zebra.learn("fd00:0:0:1:1::/80")
    zebra.learn("10.0.0.170/32")

    wanted = [
        {"interface": "Vlan100", "address": f"fd00:0:0:1::{end}", "state": "installed"} for end in ("aa", "ab")
    ]
    def shown() -> bool:
        proxies = leaf.json("proxies")
        assert proxies == wanted, proxies
        return True

    wait_until(shown, quick(5))
    assert list(leaf.json("proxies")[0]) == FIELDS["proxies"].split()
    assert leaf.json("proxies", "--interface", "Vlan100") == wanted
    assert "planectl interfaces lists them" in leaf.fails(1, "proxies", "--interface", "Vlan7")
    counters = {row["name"]: row["value"] for row in leaf.json("counters")}
    assert (counters["plane_routes"], counters["proxies"], counters["proxies_queued"]) == (3, 2, 0)
    zebra.unlearn("fd00:0:0:1::aa/128")
    wait_until(lambda: leaf.json("proxies") == wanted[1:], quick(5), what="the first has gone")


def test_every_form_says_the_same(leaf: Ctl) -> None:
    rows = leaf.json("routes")

    assert [json.loads(line) for line in leaf.text("routes", "-o", "jsonl").splitlines()] == rows
    assert yaml.safe_load(leaf.text("routes", "-o", "yaml")) == rows
    assert json.loads(leaf.text("explain", "10.0.1.2", "-o", "jsonl")) == leaf.json("explain", "10.0.1.2")


def test_explain_tells_the_chain_of_a_route(leaf: Ctl) -> None:
    explanation = leaf.json("explain", "10.0.1.2")

    assert list(explanation) == FIELDS["explain"].split()
    assert (explanation["verdict"], explanation["reason"]) == ("installed", "eligible")
    stages = [cause["stage"] for cause in explanation["chain"]]
    assert stages == ["neighbor", "port", "verdict", "route", "sent", "zebra"]
    times = [cause["at"] for cause in explanation["chain"] if cause["stage"] in ("verdict", "sent", "zebra")]
    assert times == sorted(times) and all(_TIME.fullmatch(time) for time in times)
    assert all(list(cause) == ["at", "stage", "text"] for cause in explanation["chain"])
    assert leaf.text("explain", "10.0.1.2").startswith("10.0.1.2: route installed (eligible)\n")


def test_explain_tells_the_first_condition_that_fails(farm: Farm, leaf: Ctl) -> None:
    port = next(host["port"] for host in leaf.json("hosts") if host["address"] == "10.0.1.2")
    farm.cut(port)
    wait_until(lambda: leaf.json("explain", "10.0.1.2")["reason"] == "port_down", quick(5), what="port_down")

    assert leaf.json("explain", "10.0.1.2")["verdict"] == "none"
    assert f"port {port} has no carrier" in leaf.text("explain", "10.0.1.2")
    assert leaf.json("explain", "10.0.0.1")["reason"] == "own_address"
    assert leaf.json("explain", "10.0.9.9")["reason"] == "no_neighbor"
    assert "would be on Vlan100" in leaf.text("explain", "10.0.9.9")
    assert leaf.json("explain", "192.0.2.1")["reason"] == "outside_prefixes"
    assert leaf.json("explain", "fd00:0:0:1::99")["reason"] == "no_neighbor"
    assert "is no IPv4 or IPv6 address" in leaf.fails(2, "explain", "gpu1")


def test_explain_tells_that_zebra_prefers_another_route(farm: Farm, zebra: FakeZebra, leaf: Ctl) -> None:
    zebra.ack_delay = None
    farm.learn(farm.make_hosts(1, first=50))

    wait_until(lambda: leaf.json("explain", "10.0.1.51")["verdict"] == "pending", quick(5), what="pending")

    assert "not answered yet" in leaf.text("explain", "10.0.1.51")
    zebra.ack_delay = 0.0


def test_counters_have_names_and_values(leaf: Ctl) -> None:
    counters = {row["name"]: row["value"] for row in leaf.json("counters")}

    assert list(counters) == sorted(counters)
    assert counters["turns"] > 0 and counters["turn_longest_us"] > 0 and counters["netlink_overruns"] == 0


def test_log_level_changes_what_is_logged_and_who_did_it_is_logged(farm: Farm, leaf: Ctl) -> None:
    assert leaf.json("log", "debug") == {"before": "info"}

    farm.learn(farm.make_hosts(1, first=60))
    farm.planed.wait_log(r"debug host .*address=10.0.1.61", quick(5))
    farm.planed.wait_log(r'api.command .*call=log_level level=debug pid=\d+ uid=0 gid=0', quick(1))
    assert leaf.text("log", "info") == "log level info, was debug\n"
    leaf.fails(2, "log", "loud")


def test_config_is_shown_checked_compared_and_reloaded(farm: Farm, leaf: Ctl, tmp_path: Path) -> None:
    running = yaml.safe_load(leaf.text("config", "show"))
    assert running["node"]["name"] == "leaf-a1" and running["routes"]["tag"] == 100
    running["routes"]["tag"] = 101
    running["frr"]["stale_time"] = "20m"
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(yaml.safe_dump(running), encoding="utf-8")
    bad.write_text("routes: {distance: 0}\n", encoding="utf-8")

    assert leaf.text("config", "check", str(good)) == ""
    diff = leaf.json("config", "diff", str(good))
    assert (diff["changed"], diff["needs_restart"]) == (["routes.tag", "frr.stale_time"], ["frr.stale_time"])
    assert leaf.text("config", "diff", str(good)).splitlines()[-1] == "2 changes"
    checked = leaf.run("config", "check", str(bad))
    assert checked.returncode == 1 and f"{bad}:1:20: routes.distance: " in checked.stdout
    assert "cannot read" in leaf.fails(1, "config", "check", str(tmp_path / "none.yaml"))

    farm.planed.write_config(running)
    assert leaf.json("config", "reload") == {"changed": ["routes.tag", "frr.stale_time"], "needs_restart": ["frr.stale_time"]}
    assert yaml.safe_load(leaf.text("config", "show"))["routes"]["tag"] == 101
    farm.planed.write_config("routes: {distance: 0}\n")
    assert "the running configuration stays" in leaf.fails(1, "config", "reload")
    assert yaml.safe_load(leaf.text("config", "show"))["routes"]["tag"] == 101


def test_a_verb_is_watched_until_it_is_interrupted(farm: Farm, leaf: Ctl) -> None:
    watching = farm.leaf.popen(
        [str(leaf.path), "routes", "-o", "jsonl", "--watch", "--every", "50ms"], stdout=subprocess.PIPE
    )
    assert watching.stdout is not None
    try:
        prefixes = [json.loads(watching.stdout.readline())["prefix"] for _ in range(3 * 8)]
    finally:
        watching.terminate()
        watching.wait()

    assert len(set(prefixes)) == 8 and prefixes[:8] == prefixes[8:16] == prefixes[16:]


def test_a_watch_that_fails_at_once_ends(ctl: Ctl) -> None:
    assert "systemctl status planed" in ctl.fails(3, "status", "--watch")


def bundle_of(ctl: Ctl, path: Path) -> dict[str, str]:
    done = ctl.run("support-bundle", str(path))
    assert (done.returncode, done.stdout) == (0, f"{path}\n"), done.stderr
    assert path.stat().st_mode & 0o777 == 0o600
    with tarfile.open(path) as tar:
        found = {member.name.split("/", 1)[1]: tar.extractfile(member) for member in tar}
        return {name: file.read().decode() for name, file in found.items() if file is not None}


def test_a_support_bundle_has_all_tables_and_no_password(farm: Farm, leaf: Ctl, tmp_path: Path) -> None:
    bundle = bundle_of(leaf, tmp_path / "bundle.tar.gz")

    assert json.loads(bundle["status.json"])["name"] == "leaf-a1"
    assert len(json.loads(bundle["hosts.json"])) == len(json.loads(bundle["routes.json"])) == 8
    assert {"interfaces.json", "proxies.json", "segments.json", "peers.json", "evpn-routes.json"} <= set(bundle)
    assert "planed_hosts" in bundle["metrics.txt"] and "interfaces:" in bundle["config.yaml"]
    assert "10.0.1." in bundle["kernel/neighbors.txt"] and "leaf" in bundle["about.txt"]
    assert "missing: " not in "".join(line for line in bundle["about.txt"].splitlines() if ".json" in line)


def test_a_support_bundle_is_made_without_planed(ctl: Ctl, tmp_path: Path) -> None:
    bundle = bundle_of(ctl, tmp_path / "bundle.tar.gz")

    assert "missing: status.json: " in bundle["about.txt"] and "missing: hosts.json: " in bundle["about.txt"]
    assert "status.json" not in bundle and "kernel/links.txt" in bundle


def test_a_support_bundle_replaces_no_file(ctl: Ctl, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")

    assert "File exists" in ctl.fails(1, "support-bundle", str(tmp_path / "mine"))
    assert (tmp_path / "mine").read_text() == "mine"


def test_version_is_known_with_and_without_planed(farm: Farm, leaf: Ctl) -> None:
    both = leaf.json("version")
    assert both["planectl"] == both["planed"]
    farm.planed.stop()
    assert leaf.json("version") == {"planectl": both["planectl"], "planed": None}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_without_planed(ctl: Ctl, shell: str) -> None:
    assert "explain" in ctl.text("completion", shell)


def test_bash_completes_verbs_options_and_words(farm: Farm, ctl: Ctl, tmp_path: Path) -> None:
    script = tmp_path / "planectl.bash"
    script.write_text(ctl.text("completion", "bash"), encoding="utf-8")

    def complete(*words: str) -> list[str]:
        quoted = " ".join(f"'{word}'" for word in words)
        run = f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _planectl; echo ${{COMPREPLY[@]}}"
        return farm.leaf.run(["bash", "-c", run]).stdout.split()

    assert complete("planectl", "ex") == ["explain"]
    assert complete("planectl", "config", "re") == ["reload"]
    assert complete("planectl", "hosts", "--in") == ["--interface"]
    assert "Vlan100" in complete("planectl", "hosts", "--interface", "Vl")
    assert complete("planectl", "-o", "js") == ["json", "jsonl"]
    assert complete("planectl", "--target", "unix:/x", "log", "de") == ["debug"]


def test_usage_errors_end_with_2(ctl: Ctl) -> None:
    assert "planectl help lists them" in ctl.fails(2, "frob")
    assert "needs ADDRESS" in ctl.fails(2, "explain")
    assert "could be" in ctl.fails(2, "co")


def test_without_planed_it_ends_with_3_and_says_what_to_do(ctl: Ctl) -> None:
    for verb in (["status"], ["hosts"], ["watch"], ["explain", "10.0.0.5"], ["config", "reload"]):
        assert "systemctl status planed" in ctl.fails(3, *verb)


def test_planed_that_does_not_answer_ends_with_3_in_time(farm: Farm, leaf: Ctl) -> None:
    import signal

    farm.planed.send_signal(signal.SIGSTOP)
    try:
        assert "--timeout" in leaf.fails(3, "status", "--timeout", "300ms")
    finally:
        farm.planed.send_signal(signal.SIGCONT)
    assert leaf.json("status")["ready"]
