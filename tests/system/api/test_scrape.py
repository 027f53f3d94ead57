# SPDX-License-Identifier: Apache-2.0
"""metrics.listen: what a scraper gets, and what no client of it can do."""

import http.client
import os
import socket
import time
from typing import Any

import openmetrics
import pytest
from farm import BRIDGE, READY, Farm, prefixes_of, quick, settle
from lab import wait_until
from openmetrics import Metrics
from planectl import Ctl
from support.fake_zebra import FakeZebra

PORT = 9464


@pytest.fixture
def scraped(farm: Farm, zebra: FakeZebra, ctl: Ctl) -> Farm:
    """planed is ready, with four hosts, and may be scraped."""
    farm.learn(farm.make_hosts(4))
    farm.start_planed(_config(f"127.0.0.1:{PORT}"))
    farm.planed.wait_log(READY, quick(5))
    return farm


def _config(listen: str) -> dict[str, Any]:
    return {"node": {"name": "leaf-a1"}, "interfaces": [{"name": BRIDGE}], "metrics": {"listen": listen}}


def _connect(farm: Farm, address: str = "127.0.0.1") -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    client = farm.leaf.open_socket(family, socket.SOCK_STREAM)
    client.settimeout(quick(10))
    client.connect((address, PORT))
    return client


def _request(farm: Farm, method: str = "GET", path: str = "/metrics", **more: Any) -> tuple[http.client.HTTPResponse, str]:
    connection = http.client.HTTPConnection("127.0.0.1", PORT)
    connection.sock = _connect(farm)
    connection.request(method, path, **more)
    response = connection.getresponse()
    return response, response.read().decode()


def _scrape(farm: Farm) -> Metrics:
    response, text = _request(farm)
    assert response.status == 200, text
    return openmetrics.parse(text)


def _raw(farm: Farm, request: bytes) -> bytes:
    with _connect(farm) as client:
        client.sendall(request)
        answer = b""
        while more := client.recv(65536):
            answer += more
        return answer


def test_a_scraper_gets_what_planectl_gets(scraped: Farm, ctl: Ctl) -> None:
    response, text = _request(scraped)

    assert response.status == 200
    assert response.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert response.headers["Connection"] == "close"
    assert openmetrics.parse(text).names() == ctl.metrics().names()
    assert openmetrics.parse(text)["planed_hosts"] == 8
    assert _request(scraped, path="/metrics?name[]=planed_hosts")[0].status == 200
    assert "metrics.exposed" not in scraped.planed.log()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/metrics/", 404),
        ("POST", "/metrics", 405),
        ("HEAD", "/metrics", 405),
        ("DELETE", "/metrics", 405),
        ("PUT", "/reload", 404),
    ],
)
def test_nothing_else_is_served(scraped: Farm, method: str, path: str, status: int) -> None:
    response, _ = _request(scraped, method, path, body=b"x" * 1000 if method in ("POST", "PUT") else None)

    assert response.status == status
    assert (response.headers["Allow"] == "GET") == (status == 405)


def test_what_is_no_request_is_refused(scraped: Farm) -> None:
    assert _raw(scraped, b"hello\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert _raw(scraped, b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 20_000 + b"\r\n\r\n").startswith(b"HTTP/1.1 431 ")
    assert _raw(scraped, b"GET /" + b"a" * 20_000).startswith(b"HTTP/1.1 431 ")
    assert _scrape(scraped)["planed_ready"] == 1


def test_clients_that_dawdle_are_ended_and_do_not_add_up(scraped: Farm) -> None:
    descriptors = len(_descriptors(scraped))
    idle = [_connect(scraped) for _ in range(60)]
    for client in idle[:30]:
        client.sendall(b"GET /metrics HTTP/1.1\r\nX: a")
    assert len(_descriptors(scraped)) <= descriptors + 16 + 1

    began = time.monotonic()
    wait_until(lambda: _answers(scraped), 5 + quick(3), what="there is room again")

    assert time.monotonic() - began < 5 + quick(3)
    for client in idle:
        client.close()


def _descriptors(farm: Farm) -> list[str]:
    return os.listdir(f"/proc/{farm.planed.pid}/fd")


def _answers(farm: Farm) -> bool:
    try:
        return _scrape(farm)["planed_ready"] == 1
    except OSError:
        return False
    except http.client.HTTPException:
        return False


def test_a_client_that_does_not_read_holds_up_nobody(scraped: Farm, zebra: FakeZebra) -> None:
    deaf = []
    for _ in range(8):
        client = scraped.leaf.open_socket(socket.AF_INET, socket.SOCK_STREAM)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        client.connect(("127.0.0.1", PORT))
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        deaf.append(client)

    new = scraped.make_hosts(4, first=20)
    scraped.learn(new)
    settle(zebra, prefixes_of([*scraped.make_hosts(4), *new]))
    assert _scrape(scraped).value("planed_routes", state="installed") == 16
    for client in deaf:
        client.close()


def test_scrapes_during_churn_are_whole_and_counters_never_go_back(scraped: Farm, zebra: FakeZebra) -> None:
    last: dict[Any, float] = {}
    for round_ in range(20):
        new = scraped.make_hosts(32, first=100 + 32 * round_)
        scraped.learn(new)
        metrics = _scrape(scraped)
        counters = {
            key: value
            for family in metrics.families.values()
            if family.type in ("counter", "histogram")
            for key, value in family.samples.items()
        }
        assert [key for key, value in last.items() if counters[key] < value] == []
        last = counters
        if round_ % 2:
            scraped.unlearn(new)
    wait_until(lambda: _scrape(scraped).value("planed_routes", state="pending") == 0, quick(10), what="all is settled")


def test_metrics_listen_is_moved_and_ended_by_a_reload(scraped: Farm, ctl: Ctl) -> None:
    assert _answers(scraped)

    scraped.planed.write_config(_config(f"[::1]:{PORT}"))
    reloaded = ctl.json("config", "reload")
    assert "metrics.listen" in reloaded["changed"] and reloaded["needs_restart"] == []
    with _connect(scraped, "::1") as client:
        client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 200 ")
    assert not _answers(scraped)

    scraped.planed.write_config(_config(""))
    assert ctl.json("config", "reload")["changed"] == ["metrics.listen"]
    with pytest.raises(ConnectionRefusedError):
        _connect(scraped, "::1")


def test_an_address_that_is_taken_is_told_and_nothing_else_suffers(farm: Farm, zebra: FakeZebra, ctl: Ctl) -> None:
    servers = farm.make_hosts(2)
    farm.learn(servers)
    with farm.leaf.open_socket(socket.AF_INET, socket.SOCK_STREAM) as taken:
        taken.bind(("127.0.0.1", PORT))
        taken.listen()
        farm.start_planed(_config(f"127.0.0.1:{PORT}"))
        farm.planed.wait_log(READY, quick(5))

        settle(zebra, prefixes_of(servers))
        assert f"api: metrics: cannot listen on 127.0.0.1:{PORT}: Address already in use" in ctl.json("status")["degraded"]

    farm.planed.write_config(_config(f"127.0.0.1:{PORT + 1}"))
    ctl.json("config", "reload")
    assert not [what for what in ctl.json("status")["degraded"] if what.startswith("api")]


def test_an_address_that_others_reach_is_warned_of(farm: Farm, zebra: FakeZebra, ctl: Ctl) -> None:
    farm.start_planed(_config(f"10.0.0.1:{PORT}"))
    farm.planed.wait_log(READY, quick(5))

    farm.planed.wait_log(rf"warn metrics.exposed .*listen=10.0.0.1:{PORT}", quick(1))
    with _connect(farm, "10.0.0.1") as client:
        client.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 200 ")


def test_planed_stops_at_once_though_scrapers_are_there(scraped: Farm) -> None:
    idle = [_connect(scraped) for _ in range(5)]
    idle[0].sendall(b"GET /metr")

    assert scraped.planed.stop(quick(2)) == 0

    for client in idle:
        client.close()
