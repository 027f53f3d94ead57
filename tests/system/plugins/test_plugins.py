# SPDX-License-Identifier: Apache-2.0
"""A judge denies a living host, an observer writes what changes, and one that does wrong is refused or fenced."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

from farm import BRIDGE, READY, Farm, prefixes_of, quick, settle
from lab import holds_for, wait_until
from lab.planed import REPO, binary
from planectl import Ctl
from support.fake_zebra import FakeZebra

_SHIPPED = binary().resolve().parents[1] / "lib/planed/plugins"
_INTERFACES = {"interfaces": [{"name": BRIDGE}]}

# Denies 10.0.1.2 alone, and needs two milliseconds for it.
_SLOW = r"""
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "planed/plugin.h"

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static int32_t judge_it(void* self, const struct planed_host* host, char* why, size_t why_size) {
    (void)self;
    if (strcmp(host->address_text, "10.0.1.2") != 0) {
        return PLANED_ABSTAIN;
    }
    for (const double begin = now(); now() < begin + 0.002;) {
    }
    snprintf(why, why_size, "thought about it");
    return PLANED_DENY;
}

static const struct planed_plugin plugin = {
    .abi = PLANED_PLUGIN_ABI, .size = sizeof plugin, .name = "slow", .version = "1", .judge = judge_it};

const struct planed_plugin* planed_plugin_entry(void) {
    return &plugin;
}
"""


def _with(*plugins: dict[str, Any]) -> dict[str, Any]:
    return {**_INTERFACES, "plugins": list(plugins)}


def _guard(**options: str) -> dict[str, Any]:
    return {"path": str(_SHIPPED / "prefix_guard.so"), "options": options}


def _log(file: Path) -> dict[str, Any]:
    return {"path": str(_SHIPPED / "change_log.so"), "options": {"file": str(file)}}


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _built(folder: Path, source: str) -> dict[str, Any]:
    (folder / "made.c").write_text(source, encoding="utf-8")
    made = folder / "made.so"
    include = f"-I{REPO / 'plugins/include'}"
    subprocess.run(["cc", "-shared", "-fPIC", include, "-o", str(made), str(folder / "made.c")], check=True)
    return {"path": str(made)}


def test_denied_host_has_no_route_and_everything_says_why(farm: Farm, zebra: FakeZebra, ctl: Ctl, tmp_path: Path) -> None:
    denied, *others = farm.make_hosts(4)
    farm.learn([denied, *others])
    file = tmp_path / "changes.jsonl"

    planed = farm.start_planed(_with(_guard(deny=f"{denied.v4}/32, {denied.v6}"), _log(file)))
    planed.wait_log(READY, quick(5))
    settle(zebra, prefixes_of(others))

    rows = {row["address"]: row for row in ctl.json("hosts")}
    assert rows[denied.v4]["state"] == "REACHABLE"
    assert (rows[denied.v4]["eligible"], rows[denied.v4]["reason"]) == (False, "denied")
    assert rows[denied.v4]["denied"] == f"prefix_guard: within {denied.v4}/32"
    assert rows[others[0].v4]["denied"] == ""
    assert f"plugin     prefix_guard: within {denied.v6}" in ctl.text("explain", denied.v6)
    guard, log = ctl.json("status")["plugins"]
    assert (guard["name"], guard["state"], guard["judges"], guard["observes"]) == ("prefix_guard", "running", True, False)
    assert guard["denials"] >= 2
    assert (log["name"], log["state"], log["judges"], log["observes"]) == ("change_log", "running", False, True)
    assert "plugins     prefix_guard" in ctl.text("status")
    wait_until(lambda: _lines(file), quick(5), what="lines of change_log")
    told = {line["address"]: line for line in _lines(file) if line["kind"] == "host"}
    assert (told[denied.v4]["reason"], told[denied.v4]["eligible"]) == ("denied", False)
    assert (told[others[0].v4]["reason"], told[others[0].v4]["port"]) == ("eligible", others[0].port)
    assert not [line for line in _lines(file) if line.get("prefix") == f"{denied.v4}/32"]


def test_denied_host_that_is_heard_has_no_route(farm: Farm, zebra: FakeZebra, ctl: Ctl) -> None:
    first, second = farm.make_hosts(2)
    planed = farm.start_planed(_with(_guard(deny=f"{first.v4}, {first.v6}")))
    planed.wait_log(READY, quick(5))
    farm.revive([first, second])

    farm.announce([first, second])

    settle(zebra, second.prefixes)
    holds_for(lambda: zebra.holds_exactly(second.prefixes), 0.5)
    assert {row["address"] for row in ctl.json("hosts") if row["origin"] == "snooped"}.isdisjoint((first.v4, first.v6))


def test_change_log_follows_a_host_through_its_life(farm: Farm, zebra: FakeZebra, tmp_path: Path) -> None:
    (server,) = farm.make_hosts(1, ports=["swp2"])
    file = tmp_path / "changes.jsonl"
    planed = farm.start_planed(_with(_log(file)))
    planed.wait_log(READY, quick(5))

    farm.learn([server])
    settle(zebra, server.prefixes)
    farm.cut("swp2")
    settle(zebra, [])
    farm.unlearn([server])

    def of(**keys: str) -> list[dict[str, Any]]:
        return [line for line in _lines(file) if all(line.get(key) == value for key, value in keys.items())]

    wait_until(lambda: any(line.get("gone") for line in of(address=server.v4)), quick(5), what="the end of it")
    reasons = [line.get("reason", "gone") for line in of(address=server.v4)]
    assert reasons[-2:] == ["port_down", "gone"] and "eligible" in reasons, reasons
    states = [line.get("state", "gone") for line in of(prefix=server.prefixes[0])]
    assert states[-1] == "gone" and "installed" in states, states
    assert planed.stop() == 0


def test_slow_judge_is_fenced_and_nobody_is_denied_by_it_any_more(
    farm: Farm, zebra: FakeZebra, ctl: Ctl, tmp_path: Path
) -> None:
    servers = farm.make_hosts(3)
    assert servers[0].v4 == "10.0.1.2"
    planed = farm.start_planed(_with(_built(tmp_path, _SLOW)))
    planed.wait_log(READY, quick(5))

    farm.learn(servers)  # First strike.
    settle(zebra, prefixes_of(servers) - {"10.0.1.2/32"})
    planed.wait_log(r"plugin.strike .*plugin=slow strike=1 of=3", quick(5))
    assert ctl.json("status")["plugins"][0]["state"] == "running"
    seen = f"neigh replace 10.0.1.2 lladdr {servers[0].mac} dev {BRIDGE} nud"
    farm.leaf.ip_batch([f"{seen} {state}" for state in ("stale", "reachable", "stale")])

    settle(zebra, prefixes_of(servers))
    (shown,) = ctl.json("status")["plugins"]
    assert (shown["state"], shown["strikes"]) == ("fenced", 3)
    assert "ms of them computing" in shown["reason"]
    (degraded,) = [what for what in ctl.json("status")["degraded"] if what.startswith("plugin ")]
    assert degraded.startswith("plugin slow: fenced after 3 strikes, the last: judge() took ")
    assert "slow 1 fenced" in ctl.text("status")
    assert ctl.metrics()["planed_plugins_fenced"] == 1


def test_plugin_that_cannot_be_opened_stops_the_start(farm: Farm, tmp_path: Path) -> None:
    broken = _built(tmp_path, "int nothing;\n")
    planed = farm.start_planed(
        _with({"path": "/nowhere/x.so"}, broken, _guard(permit="10.0.0.0/8"), _log(Path("/nowhere/y")))
    )

    wait_until(lambda: not planed.alive, quick(5), what="it gives up")

    assert planed.process and planed.process.returncode == 1
    said = [line for line in planed.log().splitlines() if " plugin.refused " in line or line.startswith("error plugin.refused")]
    assert len(said) == 4, planed.log()
    assert "/nowhere/x.so: cannot open shared object file: No such file or directory" in said[0]
    assert f"{broken['path']}: no plug-in of planed: it has no symbol planed_plugin_entry" in said[1]
    assert 'prefix_guard.so: unknown option "permit": it knows allow, deny, interface' in said[2]
    assert "change_log.so: /nowhere/y: No such file or directory" in said[3]


def test_plugin_finds_nothing_of_the_daemon() -> None:
    done = subprocess.run(["nm", "-D", "--defined-only", str(binary())], capture_output=True, text=True, check=True)

    assert [line for line in done.stdout.splitlines() if "planed" in line] == []


def test_check_says_which_files_are_missing(tmp_path: Path) -> None:
    file = tmp_path / "planed.yaml"
    there = _SHIPPED / "prefix_guard.so"
    file.write_text(f"interfaces: [{{name: a}}]\nplugins:\n  - path: {there}\n  - path: /nowhere/x.so\n", encoding="utf-8")

    done = subprocess.run(
        [str(binary()), "--config", str(file), "--check"], capture_output=True, text=True, timeout=20, check=False
    )

    assert done.returncode == 0
    wanted = "plugins[1].path: /nowhere/x.so: there is no such file, planed would not start"
    assert done.stderr == f"{file}:4:11: {wanted}\n"


def test_reload_names_plugins_that_wait_for_a_restart(farm: Farm, zebra: FakeZebra, ctl: Ctl) -> None:
    servers = farm.make_hosts(2)
    farm.learn(servers)
    planed = farm.start_planed(_with())
    planed.wait_log(READY, quick(5))
    settle(zebra, prefixes_of(servers))

    planed.write_config(_with(_guard(deny="0.0.0.0/0")))
    planed.send_signal(signal.SIGHUP)

    planed.wait_log("config.needs_restart .*key=plugins .*applied at the next start", quick(5))
    planed.wait_log("config.reloaded", quick(5))
    assert ctl.json("status")["plugins"] == []
    holds_for(lambda: zebra.holds_exactly(prefixes_of(servers)), 0.5)
