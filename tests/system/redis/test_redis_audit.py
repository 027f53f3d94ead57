# SPDX-License-Identifier: Apache-2.0
"""planectl audit tells of the rows that somebody else has touched, and of a Redis that is away."""

import json
import sys
from pathlib import Path
from typing import Any

from farm import BRIDGE, READY, Farm, prefixes_of, quick, settle
from lab import wait_until
from redis_server import Redis, config
from support.fake_zebra import FakeZebra

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "api"))

from planectl import Ctl  # noqa: E402


def _audit(ctl: Ctl) -> list[dict[str, Any]]:
    done = ctl.run("audit", "-o", "json", "--timeout", "20s")
    assert done.returncode in (0, 1) and not done.stderr, f"exit {done.returncode}: {done.stderr}"
    differences: list[dict[str, Any]] = json.loads(done.stdout)
    assert (done.returncode == 1) == bool(differences), done.stdout
    return differences


def _start(farm: Farm, zebra: FakeZebra, redis: Redis) -> Ctl:
    servers = farm.make_hosts(3)
    farm.learn(servers)
    farm.start_planed(config(f"unix:{redis.socket}")).wait_log(READY, quick(10))
    settle(zebra, prefixes_of(servers))
    ctl = Ctl(farm.leaf)
    wait_until(lambda: ctl.json("status")["redis"]["connected"], quick(5), what="Redis")
    wait_until(lambda: not _audit(ctl), quick(10), what="no differences")
    return ctl


def test_rows_that_others_touch_are_told_and_written_again(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    ctl = _start(farm, zebra, redis)
    lost = "PLANED_ROUTE_TABLE|default|10.0.1.2/32"
    changed = f"PLANED_NEIGHBOR_TABLE|default|{BRIDGE}|10.0.1.3"
    foreign = "PLANED_ROUTE_TABLE|default|10.0.77.7/32"
    before = redis.row(changed)
    redis.cli("del", lost)
    redis.cli("hset", changed, "port", "nowhere")
    redis.cli("hset", foreign, "state", "installed")

    differences = _audit(ctl)

    assert {row["where"] for row in differences} == {"redis"} and {row["kind"] for row in differences} == {"row"}
    assert {row["object"]: (row["wanted"], row["found"], row["action"]) for row in differences} == {
        lost: ("a row of 5 fields", "", "written again"),
        changed: (f"port={before['port']}", "port=nowhere", "written again"),
        foreign: ("", "a row of 1 field", "removed"),
    }
    wait_until(lambda: redis.row(lost) and redis.row(changed)["port"] == before["port"], quick(3))
    assert foreign not in redis.keys()
    wait_until(lambda: not _audit(ctl), quick(10), what="no differences")
    counters = {row["name"]: row["value"] for row in ctl.json("counters")}
    assert counters["audit_differences_rows"] == 3


def test_a_quiet_leaf_tells_how_many_rows_it_has(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    ctl = _start(farm, zebra, redis)

    lines = ctl.text("audit", "--timeout", "20s").splitlines()

    rows = next(line.split() for line in lines if line.startswith("redis"))
    assert rows[:3] == ["redis", "rows", str(len(redis.keys()))]
    assert lines[-1] == "no differences"


def test_a_redis_that_is_away_is_the_difference(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    ctl = _start(farm, zebra, redis)
    redis.kill()
    wait_until(lambda: not ctl.json("status")["redis"]["connected"], quick(15), what="Redis is gone")

    (difference,) = _audit(ctl)

    assert (difference["where"], difference["kind"], difference["object"]) == ("redis", "table", "rows")
    assert difference["found"]
    redis.start()
    wait_until(lambda: not _audit(ctl), quick(15), what="no differences")


def test_a_redis_that_takes_nothing_is_the_difference(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    ctl = _start(farm, zebra, redis)
    redis.cli("config", "set", "maxmemory", "1")
    redis.cli("del", "PLANED_ROUTE_TABLE|default|10.0.1.2/32")

    def refused() -> bool:
        differences = _audit(ctl)
        return any(row["kind"] == "table" and "refuses" in row["found"] for row in differences)

    wait_until(refused, quick(15), what="Redis refuses")
    redis.cli("config", "set", "maxmemory", "0")
    wait_until(lambda: not _audit(ctl), quick(15), what="no differences")
