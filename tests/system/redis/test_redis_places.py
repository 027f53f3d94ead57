# SPDX-License-Identifier: Apache-2.0
"""Where Redis is looked for, and that a reload moves the mirror."""

import json
import signal
from pathlib import Path
from typing import Any

from farm import READY, Farm, prefixes_of, quick, settle
from lab import holds_for, wait_until
from redis_server import Make, Redis, config
from support.fake_zebra import FakeZebra

_SONIC = "/run/redis/redis.sock"
_DEBIAN = "/run/redis/redis-server.sock"


def _shows(redis: Redis, database: int = 6, key: str = "PLANED_TABLE|global") -> None:
    wait_until(lambda: key in redis.keys(database=database), quick(3), what=f"{key} in {redis.socket}")


def _reload(farm: Farm, new: dict[str, Any]) -> str:
    since = len(farm.planed.log())
    farm.planed.write_config(new)
    farm.planed.send_signal(signal.SIGHUP)
    farm.planed.wait_log("config.reloaded", 5, since)
    return farm.planed.log()[since:]


def _write(farm: Farm, path: str, content: Any) -> str:
    file: Path = farm.leaf.path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def _database_config(socket: str, number: int = 6, separator: str = "|") -> dict[str, Any]:
    return {
        "INSTANCES": {
            "redis": {"hostname": "127.0.0.1", "port": 6379, "unix_socket_path": "/nowhere"},
            "redis1": {"hostname": "127.0.0.1", "port": 6378, "unix_socket_path": socket},
        },
        "DATABASES": {
            "APPL_DB": {"id": 0, "separator": ":", "instance": "redis"},
            "STATE_DB": {"id": number, "separator": separator, "instance": "redis1"},
        },
        "VERSION": "1.0",
    }


def test_auto_takes_sonics_socket_first_then_debians_then_tcp(farm: Farm, zebra: FakeZebra, make_redis: Make) -> None:
    tcp = make_redis("/run/redis/tcp.sock", 6379)
    debian, sonic = make_redis(_DEBIAN), make_redis(_SONIC)
    farm.start_planed(config("auto")).wait_log(READY, 10)
    _shows(sonic)
    assert not debian.keys() and not tcp.keys()

    sonic.kill()
    _shows(debian)
    assert not tcp.keys()

    debian.kill()
    _shows(tcp)


def test_tcp_by_address_and_by_name(farm: Farm, zebra: FakeZebra, make_redis: Make) -> None:
    redis = make_redis("/run/redis/tcp.sock", 7001)
    farm.start_planed(config("tcp:127.0.0.1:7001")).wait_log(READY, 10)
    _shows(redis)
    redis.cli("flushall")

    _write(farm, "/etc/hosts", "127.0.0.1 localhost state-db\n")
    _reload(farm, config("tcp:state-db:7001"))

    _shows(redis)


def test_off_looks_for_nothing(farm: Farm, zebra: FakeZebra, make_redis: Make) -> None:
    redis = make_redis(_SONIC)
    servers = farm.make_hosts(3)
    farm.learn(servers)

    farm.start_planed(config("off")).wait_log(READY, 10)

    settle(zebra, prefixes_of(servers))
    holds_for(lambda: not redis.keys(), 1, every=0.2)
    assert "redis" not in farm.planed.log()


def test_reload_moves_the_mirror_switches_it_off_and_on(farm: Farm, zebra: FakeZebra, make_redis: Make) -> None:
    one, two = make_redis("/run/redis/one.sock"), make_redis("/run/redis/two.sock")
    servers = farm.make_hosts(5)
    farm.learn(servers)
    farm.start_planed(config("unix:/run/redis/one.sock")).wait_log(READY, 10)
    settle(zebra, prefixes_of(servers))
    row = f"PLANED_ROUTE_TABLE|default|{servers[0].v4}/32"
    _shows(one, key=row)
    mark = zebra.mark()

    said = _reload(farm, config("unix:/run/redis/two.sock"))
    assert "needs_restart" not in said
    _shows(two, key=row)

    _reload(farm, config("off"))
    two.cli("flushall")
    holds_for(lambda: not two.keys(), 1, every=0.2)

    _reload(farm, config("unix:/run/redis/two.sock"))
    _shows(two, key=row)
    assert zebra.since(mark, "ROUTE_ADD", "ROUTE_DELETE") == []


def test_reload_of_something_else_leaves_the_mirror_alone(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    farm.start_planed(config(f"unix:{redis.socket}")).wait_log(READY, 10)
    _shows(redis)
    clients = redis.cli("client", "list", "type", "normal")

    _reload(farm, {**config(f"unix:{redis.socket}"), "node": {"name": "renamed"}})

    wait_until(lambda: redis.row("PLANED_TABLE|global")["name"] == "renamed", quick(1))
    assert clients.split()[0] in redis.cli("client", "list", "type", "normal")


def test_database_config_gives_instance_number_and_separator(farm: Farm, zebra: FakeZebra, make_redis: Make) -> None:
    redis = make_redis("/run/redis1/redis.sock")
    path = _write(farm, "/run/redis/sonic-db/database_config.json", _database_config(redis.socket, 13, ":"))
    servers = farm.make_hosts(1)
    farm.learn(servers)

    farm.start_planed(config({"endpoint": "auto", "database_config": path})).wait_log(READY, 10)

    _shows(redis, 13, "PLANED_TABLE:global")
    _shows(redis, 13, f"PLANED_NEIGHBOR_TABLE:default:Vlan100:{servers[0].v6}")
    assert not redis.keys(database=6)


def test_database_config_with_namespaces(farm: Farm, zebra: FakeZebra, make_redis: Make) -> None:
    host, asic = make_redis("/run/redis/host.sock"), make_redis("/run/redis1/redis.sock")
    _write(farm, "/run/redis/sonic-db/database_config.json", _database_config(host.socket))
    _write(farm, "/run/redis1/sonic-db/database_config.json", _database_config(asic.socket))
    includes = [
        {"include": "../../redis/sonic-db/database_config.json"},
        {"container_name": "database1", "namespace": "asic1", "include": "../../redis1/sonic-db/database_config.json"},
    ]
    path = _write(farm, "/run/redis/sonic-db/database_global.json", {"INCLUDES": includes, "VERSION": "1.0"})
    wanted = config({"endpoint": "auto", "database_config": path})

    farm.start_planed(wanted).wait_log(READY, 10)
    _shows(host)
    assert not asic.keys()
    farm.planed.stop()

    farm.start_planed(wanted, env={"NAMESPACE_ID": "1"}).wait_log(READY, 10)
    _shows(asic)


def test_database_config_that_is_missing_or_wrong_is_named_and_read_again(
    farm: Farm, zebra: FakeZebra, make_redis: Make
) -> None:
    redis = make_redis()
    path = "/run/redis/sonic-db/database_config.json"
    planed = farm.start_planed(config({"endpoint": "auto", "database_config": path}))
    planed.wait_log(READY, 10)
    planed.wait_log(f"no Redis: cannot read {path}: No such file", 3)

    _write(farm, path, "{")
    planed.wait_log(f"no Redis: {path}: is not JSON", quick(2))
    _write(farm, path, {"DATABASES": {"APPL_DB": {"id": 0, "separator": ":", "instance": "redis"}}})
    planed.wait_log(f"no Redis: {path}: no STATE_DB", quick(2))
    _write(farm, path, _database_config(redis.socket))

    _shows(redis)
    planed.wait_log('degraded.end .*what="redis"', quick(2))
