# SPDX-License-Identifier: Apache-2.0
"""The command line of the lab, for people; tests use the package."""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from . import state
from .errors import LabError
from .fabric import Lab
from .namespaces import enter_command
from .topology import load


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return int(options.verb(options))
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lab", description="A containerlab topology in network namespaces.")
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    for name, verb, text in (
        ("up", _up, "bring a topology up and leave it"),
        ("down", _down, "take it down again"),
        ("exec", _exec, "run a command in a node"),
        ("inspect", _inspect, "what is up: nodes, daemons, BGP sessions"),
    ):
        sub = verbs.add_parser(name, help=text)
        sub.set_defaults(verb=verb)
        sub.add_argument("file", help="the .clab.yaml file")
        sub.add_argument("--name", help="name of the lab (default: the one in the file)")
        if name == "up":
            sub.add_argument("--frr", default="8.4", choices=["8.4", "10.3"], help="FRR release (default: %(default)s)")
        if name == "inspect":
            sub.add_argument("-o", dest="output", default="table", choices=["table", "json"])
        if name == "exec":
            sub.add_argument("node")
            sub.add_argument("command", nargs=argparse.REMAINDER)
    return parser


def _up(options: argparse.Namespace) -> int:
    begun = time.monotonic()
    name = options.name or load(options.file).name
    lab = Lab(options.file, frr=options.frr, name=name, keep=True, progress=lambda text: print(f"lab: {text}", flush=True))
    if lab.topology.ignored:
        print(f"lab: these keys mean nothing without containers: {', '.join(lab.topology.ignored)}")
    lab.up()
    took = time.monotonic() - begun
    print(f"lab: {lab.name} is up: {len(lab.nodes)} nodes, FRR {lab.frr}, all BGP sessions established, {took:.1f} s")
    return 0


def _down(options: argparse.Namespace) -> int:
    name = options.name or load(options.file).name
    with state.locked():
        found = state.LabState.read(name)
        if found is None:
            print(f"lab: {name} is not up")
            return 0
        state.remove(found)
    print(f"lab: {name} is down")
    return 0


def _exec(options: argparse.Namespace) -> int:
    node = Lab.attach(options.file, options.name)[options.node]
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise LabError("exec: no command")
    os.environ.update(node.spec.env)
    argv = enter_command(node.pid, command)
    os.execvp(argv[0], argv)


def _inspect(options: argparse.Namespace) -> int:
    lab = Lab.attach(options.file, options.name)
    rows = [_row(lab, name) for name in lab.nodes]
    if options.output == "json":
        print(json.dumps({"name": lab.name, "frr": lab.frr, "nodes": rows}, indent=1))
        return 0
    print(f"lab {lab.name}, FRR {lab.frr}, files in {lab.folder}")
    for row in rows:
        sessions = ", ".join(f"{n} {s}" for n, s in row["bgp"].items()) or "-"
        daemons = ", ".join(f"{n} {p}" for n, p in row["daemons"].items()) or "-"
        print(f"{row['name']:<10} {row['netns']:<28} daemons: {daemons:<40} BGP: {sessions}")
    print(f"{len(rows)} nodes")
    return 0


def _row(lab: Lab, name: str) -> dict[str, Any]:
    node = lab[name]
    pid_files = sorted(Path(node.path("/run/frr")).glob("*.pid")) if node.spec.runs_frr else []
    return {
        "name": name,
        "netns": node.netns,
        "pid": node.pid,
        "daemons": {file.stem: int(file.read_text(encoding="utf-8")) for file in pid_files},
        "bgp": node.bgp_neighbors() if node.spec.runs_frr else {},
    }
