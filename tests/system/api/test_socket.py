# SPDX-License-Identifier: Apache-2.0
"""The socket: who can reach it, what is in its place, what becomes of it; and TCP with certificates."""

import os
import signal
import socket
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from farm import BRIDGE, READY, Farm, prefixes_of, quick, settle
from lab import wait_until
from planectl import SOCKET, Ctl
from support.fake_zebra import FakeZebra


def _start(farm: Farm, **api: Any) -> None:
    farm.start_planed({"interfaces": [{"name": BRIDGE}], **({"api": api} if api else {})})
    farm.planed.wait_log(READY, quick(5))


def test_socket_is_for_its_owner_and_group_alone(farm: Farm, leaf: Ctl) -> None:
    found = farm.leaf.path(SOCKET).stat()

    assert stat.S_ISSOCK(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o660
    assert os.listdir(farm.leaf.path("/run/planed")) == ["planed.sock"]
    stranger = leaf.run("status", by=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"))
    assert stranger.returncode == 3 and "in group planed" in stranger.stderr


def test_socket_goes_with_planed_and_comes_back_after_a_kill(farm: Farm, leaf: Ctl) -> None:
    farm.planed.kill()
    assert farm.leaf.path(SOCKET).exists()
    farm.planed.start()
    wait_until(lambda: leaf.run("status").returncode == 0, quick(5), what="the API is back")

    farm.planed.stop()
    assert not farm.leaf.path(SOCKET).exists()


@pytest.mark.parametrize("what", ["file", "listener"])
def test_what_is_in_the_sockets_place_stays_and_routes_do_not_suffer(farm: Farm, zebra: FakeZebra, what: str) -> None:
    path = farm.leaf.path(SOCKET)
    servers = farm.make_hosts(2)
    farm.learn(servers)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if what == "file":
        path.write_text("mine\n", encoding="utf-8")
    else:
        listener.bind(str(path))
        listener.listen()
    before = path.lstat().st_ino

    _start(farm)

    farm.planed.wait_log(r'degraded.begin .*what="api" text="', quick(2))
    settle(zebra, prefixes_of(servers))
    assert path.lstat().st_ino == before
    farm.planed.stop()
    assert path.lstat().st_ino == before
    listener.close()


def test_planed_stops_at_once_whatever_its_clients_do(farm: Farm, leaf: Ctl) -> None:
    watchers = [leaf.watch() for _ in range(5)]
    for watcher in watchers:
        assert watcher.stdout is not None and '"sync"' in watcher.stdout.readline()

    assert farm.planed.stop(quick(2)) == 0

    for watcher in watchers:
        _, errors = watcher.communicate(timeout=5)
        assert watcher.returncode == 3 and "planed" in errors


def test_strangers_on_the_socket_are_no_harm(farm: Farm, leaf: Ctl) -> None:
    idle = []
    for garbage in (b"", b"GET / HTTP/1.1\r\n\r\n", os.urandom(4096)):
        for _ in range(50):
            client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            client.connect(str(farm.leaf.path(SOCKET)))
            client.sendall(garbage)
            idle.append(client)

    assert leaf.json("status")["ready"]
    for client in idle:
        client.close()
    assert leaf.json("status")["ready"]


def test_too_many_connections_are_turned_away_and_let_in_again(farm: Farm, leaf: Ctl) -> None:
    idle = []
    for _ in range(400):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.connect(str(farm.leaf.path(SOCKET)))
        idle.append(client)
    assert len(os.listdir(f"/proc/{farm.planed.pid}/fd")) < 400

    for client in idle:
        client.close()

    wait_until(lambda: leaf.run("status").returncode == 0, quick(5), what="there is room again")


# ---- TCP ----


def _openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """ca, server, client (signed by ca), and stranger (by itself), each .pem and .key."""
    for name in ("ca", "stranger"):
        _openssl(tmp_path, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem",
                 "-days", "2", "-subj", f"/CN={name}")  # fmt: skip
    (tmp_path / "san").write_text("subjectAltName=IP:127.0.0.1\n", encoding="utf-8")
    for name in ("server", "client", "expired"):
        days = "-1" if name == "expired" else "2"
        _openssl(tmp_path, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr",
                 "-subj", f"/CN={name}")  # fmt: skip
        _openssl(tmp_path, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                 "-out", f"{name}.pem", "-days", days, "-extfile", "san")  # fmt: skip
    return tmp_path


def _tls(folder: Path, name: str) -> list[str]:
    return ["--target", "127.0.0.1:50051", "--timeout", "3s", "--tls-ca", str(folder / "ca.pem"),
            "--tls-cert", str(folder / f"{name}.pem"), "--tls-key", str(folder / f"{name}.key")]  # fmt: skip


def test_tcp_is_for_clients_with_a_certificate_of_the_authority(
    farm: Farm, zebra: FakeZebra, ctl: Ctl, certificates: Path
) -> None:
    files = {"certificate": "server.pem", "key": "server.key", "client_ca": "ca.pem"}
    _start(
        farm,
        listen=[f"unix:{SOCKET}", "127.0.0.1:50051"],
        tls={key: str(certificates / file) for key, file in files.items()},
    )

    assert ctl.json("status", *_tls(certificates, "client"))["ready"]
    for wrong in ("stranger", "expired"):
        assert "--tls-cert" in ctl.fails(3, "status", *_tls(certificates, wrong))
    none = ["--target", "127.0.0.1:50051", "--timeout", "3s", "--tls-ca", str(certificates / "ca.pem")]
    ctl.fails(3, "status", *none)
    assert ctl.json("status")["ready"]
    ctl.text("log", "info", *_tls(certificates, "client"))
    farm.planed.wait_log(r'api.command .*call=log_level .*certificate="(127.0.0.1|client)"', quick(1))


def test_tcp_without_its_files_degrades_the_api_and_nothing_else(
    farm: Farm, zebra: FakeZebra, ctl: Ctl, certificates: Path
) -> None:
    tls = {"certificate": str(certificates / "server.pem"), "key": "/nowhere.key", "client_ca": str(certificates / "ca.pem")}
    _start(farm, listen=[f"unix:{SOCKET}", "127.0.0.1:50051"], tls=tls)

    assert "api: cannot read /nowhere.key" in ctl.json("status")["degraded"]
