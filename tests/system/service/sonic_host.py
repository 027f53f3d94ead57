# SPDX-License-Identifier: Apache-2.0
"""What planed's plug-ins for SONiC's commands meet on a switch: swsscommon's CONFIG_DB, and programs on PATH."""

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

PLUGINS = Path(__file__).resolve().parents[3] / "systemd/sonic/cli"


class ConfigDb:
    """CONFIG_DB as it lies in Redis: a hash for each row, all values text, `@` behind the names of lists."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, str]] = {}

    def connector(self) -> type:
        """A class that behaves as swsscommon's ConfigDBConnector over these rows."""
        rows = self.rows

        class ConfigDBConnector:
            def __init__(self, use_unix_socket_path: bool = False) -> None:
                self._by_socket, self._connected = use_unix_socket_path, False

            def connect(self) -> None:
                assert self._by_socket, "TCP hangs where the loopback's neighbour is gone"
                self._connected = True

            def get_entry(self, table: str, key: str) -> dict[str, Any]:
                assert self._connected
                return _typed(rows.get(f"{table}|{key}", {}))

            def get_table(self, table: str) -> dict[Any, dict[str, Any]]:
                assert self._connected
                found = {tuple(name.split("|")[1:]): row for name, row in rows.items() if name.split("|")[0] == table}
                return {key[0] if len(key) == 1 else key: _typed(row) for key, row in found.items()}

            def set_entry(self, table: str, key: str, data: dict[str, Any] | None) -> None:
                assert self._connected
                rows.pop(f"{table}|{key}", None)
                if data is not None:
                    rows[f"{table}|{key}"] = _raw(data)

            def mod_entry(self, table: str, key: str, data: dict[str, Any]) -> None:
                assert self._connected
                rows.setdefault(f"{table}|{key}", {}).update(_raw(data))

        return ConfigDBConnector


def _raw(data: dict[str, Any]) -> dict[str, str]:
    """Redis has no empty hash."""
    if not data:
        return {"NULL": "NULL"}
    return {f"{name}@" if isinstance(value, list) else name: _text(value) for name, value in data.items()}


def _text(value: Any) -> str:
    assert isinstance(value, (str, list)), f"{value!r} is no text"
    return ",".join(value) if isinstance(value, list) else value


def _typed(row: dict[str, str]) -> dict[str, Any]:
    fields = {name: value for name, value in row.items() if name != "NULL"}
    return {name.rstrip("@"): value.split(",") if name.endswith("@") else value for name, value in fields.items()}


def plugin(command: str) -> ModuleType:
    """The plug-in of `show` or of `config`, loaded anew."""
    path = PLUGINS / command / "plugins/planed.py"
    spec = importlib.util.spec_from_file_location(f"{command}.plugins.planed", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def program(folder: Path, name: str, text: str) -> None:
    """A program of this name in this folder, a shell script."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    os.chmod(folder / name, 0o755)
