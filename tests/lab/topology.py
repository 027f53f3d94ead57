# SPDX-License-Identifier: Apache-2.0
"""Reads a containerlab topology file, strictly: a key this runner does not act on is an error that names it.

Only what can be shown with network namespaces is accepted, so that a lab that comes up here is the lab that
containerlab brings up. Inheritance is containerlab's: node over group over kind over defaults; `binds`, `env`,
`labels` and `sysctls` merge, everything else overrides.
"""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from .errors import LabError

DEFAULT_MTU = 9500  # containerlab's default for veth links
_IGNORED_TOP = {"mgmt"}
_TOP = {"name", "prefix", "topology"} | _IGNORED_TOP
_TOPOLOGY = {"defaults", "kinds", "groups", "nodes", "links"}
_IGNORED_NODE = {"image-pull-policy", "labels", "ports", "restart-policy", "privileged", "cap-add"}
_NODE = {
    "kind", "group", "image", "binds", "env", "sysctls", "hostname", "exec", "startup-delay", "stages", "network-mode",
} | _IGNORED_NODE  # fmt: skip
_KINDS = {"linux", "bridge"}
_STAGES = {"create", "create-links", "configure", "healthy"}
_LINK_SHORT = {"endpoints", "mtu", "vars", "labels"}
_LINK_LONG = {"type", "endpoints", "mtu", "vars", "labels"}
_ENDPOINT = {"node", "interface", "mac"}
_VARIABLE = re.compile(r"\$\$|\$\{(\w+)(?::?[=-]([^}]*))?\}|\$(\w+)")


@dataclass(frozen=True)
class Bind:
    """A file or folder of the machine, as it is to appear in the node."""

    source: Path
    target: str
    read_only: bool


@dataclass(frozen=True)
class NodeSpec:
    name: str
    kind: str
    image: str
    hostname: str
    group: str = ""
    binds: tuple[Bind, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    sysctls: dict[str, str] = field(default_factory=dict)
    exec: tuple[str, ...] = ()
    startup_delay: float = 0.0
    wait_for: tuple[str, ...] = ()

    @property
    def runs_frr(self) -> bool:
        """containerlab knows no FRR kind either: the image's name is what tells."""
        return "frr" in self.image


@dataclass(frozen=True)
class Endpoint:
    node: str
    interface: str
    mac: str = ""


@dataclass(frozen=True)
class LinkSpec:
    ends: tuple[Endpoint, Endpoint]
    mtu: int = DEFAULT_MTU


@dataclass(frozen=True)
class Topology:
    path: Path
    name: str
    prefix: str
    nodes: dict[str, NodeSpec]
    links: tuple[LinkSpec, ...]
    ignored: tuple[str, ...]  # keys that mean something to containerlab and nothing here


def load(path: str | os.PathLike[str]) -> Topology:
    """The topology in `path`; LabError names the first thing in it that cannot be honoured."""
    file = Path(path).resolve()
    try:
        text = file.read_text(encoding="utf-8")
        document = yaml.safe_load(_expand(text, file))
    except (OSError, yaml.YAMLError) as error:
        raise LabError(f"{file}: {error}") from error
    return _Reader(file).topology(document)


def _expand(text: str, file: Path) -> str:
    """containerlab's `${NAME:=default}` and `$NAME`, from the environment."""

    def value(match: re.Match[str]) -> str:
        if match.group(0) == "$$":
            return "$"
        name, default = match.group(1) or match.group(3), match.group(2)
        found = os.environ.get(name, default)
        if found is None:
            raise LabError(f"{file}: variable {name} is not set")
        return found

    return _VARIABLE.sub(value, text)


class _Reader:
    """Walks the document and keeps the path, so that every complaint says where."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._ignored: set[str] = set()

    def topology(self, document: Any) -> Topology:
        top = self._map(document, "the file", _TOP)
        body = self._map(top.get("topology"), "topology", _TOPOLOGY)
        name = str(top.get("name") or "")
        if not name:
            self._fail("name", "is missing")
        self._ignored |= _IGNORED_TOP & top.keys()
        nodes = self._nodes(body, name)
        links = tuple(self._link(link, f"topology.links[{i}]") for i, link in enumerate(body.get("links") or []))
        self._check_ends(nodes, links)
        return Topology(
            path=self._file,
            name=name,
            prefix=str(top.get("prefix", "clab")),
            nodes=nodes,
            links=links,
            ignored=tuple(sorted(self._ignored)),
        )

    def _nodes(self, body: dict[str, Any], lab: str) -> dict[str, NodeSpec]:
        defaults = self._node_map(body.get("defaults"), "topology.defaults")
        kinds = self._node_maps(body, "kinds")
        groups = self._node_maps(body, "groups")
        nodes = self._node_maps(body, "nodes")
        if not nodes:
            self._fail("topology.nodes", "is missing or empty")
        return {n: self._node(n, own, groups, kinds, defaults, lab) for n, own in nodes.items()}

    def _node(
        self,
        name: str,
        own: dict[str, Any],
        groups: dict[str, dict[str, Any]],
        kinds: dict[str, dict[str, Any]],
        defaults: dict[str, Any],
        lab: str,
    ) -> NodeSpec:
        where = f"topology.nodes.{name}"
        group_name = str(own.get("group") or defaults.get("group") or "")
        if group_name and group_name not in groups:
            self._fail(f"{where}.group", f"no group named {group_name}")
        group = groups.get(group_name, {})
        kind = str(own.get("kind") or group.get("kind") or defaults.get("kind") or "")
        if kind not in _KINDS:
            self._fail(f"{where}.kind", f"{kind or 'missing'}: only {' and '.join(sorted(_KINDS))} can be shown here")
        merged = _merge(defaults, kinds.get(kind, {}), group, own)
        return self._spec(name, kind, group_name, merged, where, lab)

    def _spec(self, name: str, kind: str, group: str, m: dict[str, Any], where: str, lab: str) -> NodeSpec:
        if str(m.get("network-mode", "none")) != "none":
            self._fail(f"{where}.network-mode", f"{m['network-mode']}: only none can be shown here")
        self._ignored |= _IGNORED_NODE & m.keys()
        return NodeSpec(
            name=name,
            kind=kind,
            group=group,
            image=str(m.get("image", "")),
            hostname=str(m.get("hostname", name)),
            binds=tuple(self._bind(b, f"{where}.binds", name, lab) for b in m.get("binds", [])),
            env={str(k): str(v) for k, v in m.get("env", {}).items()},
            sysctls={str(k): str(v) for k, v in m.get("sysctls", {}).items()},
            exec=tuple(_magic(str(line), name, lab) for line in m.get("exec", [])),
            startup_delay=float(m.get("startup-delay", 0)),
            wait_for=self._wait_for(m.get("stages") or {}, f"{where}.stages"),
        )

    def _bind(self, text: Any, where: str, node: str, lab: str) -> Bind:
        source, _, rest = _magic(str(text), node, lab).partition(":")
        target, _, mode = rest.partition(":")
        if not target.startswith("/") or mode not in ("", "ro", "rw"):
            self._fail(where, f"'{text}' is not source:/target[:ro]")
        path = (self._file.parent / source).resolve()
        if not path.exists():
            self._fail(where, f"{path} does not exist")
        return Bind(source=path, target=target, read_only=mode == "ro")

    def _wait_for(self, stages: Any, where: str) -> tuple[str, ...]:
        waits: list[str] = []
        for stage, body in self._map(stages, where, _STAGES).items():
            here = f"{where}.{stage}"
            for item in self._map(body, here, {"wait-for"}).get("wait-for") or []:
                entry = self._map(item, f"{here}.wait-for", {"node", "stage"})
                if entry.get("stage") not in _STAGES:
                    self._fail(f"{here}.wait-for.stage", f"{entry.get('stage')}: none of {', '.join(sorted(_STAGES))}")
                waits.append(str(entry.get("node")))
        return tuple(waits)

    def _link(self, raw: Any, where: str) -> LinkSpec:
        long = isinstance(raw, dict) and "type" in raw
        link = self._map(raw, where, _LINK_LONG if long else _LINK_SHORT)
        if long and link["type"] != "veth":
            self._fail(f"{where}.type", f"{link['type']}: only veth can be shown here")
        ends = link.get("endpoints") or []
        if len(ends) != 2:
            self._fail(f"{where}.endpoints", "must be two")
        first, second = (self._endpoint(end, f"{where}.endpoints") for end in ends)
        return LinkSpec(ends=(first, second), mtu=int(link.get("mtu", DEFAULT_MTU)))

    def _endpoint(self, raw: Any, where: str) -> Endpoint:
        if isinstance(raw, str) and raw.count(":") == 1:
            node, interface = raw.split(":")
            return Endpoint(node=node, interface=interface)
        end = self._map(raw, where, _ENDPOINT)
        return Endpoint(node=str(end.get("node")), interface=str(end.get("interface")), mac=str(end.get("mac", "")))

    def _check_ends(self, nodes: dict[str, NodeSpec], links: tuple[LinkSpec, ...]) -> None:
        seen: set[tuple[str, str]] = set()
        for i, link in enumerate(links):
            for end in link.ends:
                where = f"topology.links[{i}].endpoints"
                if end.node not in nodes:
                    self._fail(where, f"no node named {end.node}")
                if (end.node, end.interface) in seen:
                    self._fail(where, f"{end.node}:{end.interface} is used twice")
                seen.add((end.node, end.interface))
        for node in nodes.values():
            for other in node.wait_for:
                if other not in nodes:
                    self._fail(f"topology.nodes.{node.name}.stages", f"no node named {other}")

    def _node_maps(self, body: dict[str, Any], key: str) -> dict[str, dict[str, Any]]:
        where = f"topology.{key}"
        maps = self._map(body.get(key), where, None)
        return {str(name): self._node_map(value, f"{where}.{name}") for name, value in maps.items()}

    def _node_map(self, raw: Any, where: str) -> dict[str, Any]:
        node = self._map(raw, where, _NODE)
        for key in ("binds", "exec"):
            if not isinstance(node.get(key, []), list):
                self._fail(f"{where}.{key}", "must be a list")
        for key in ("env", "sysctls"):
            self._map(node.get(key), f"{where}.{key}", None)
        return node

    def _map(self, raw: Any, where: str, allowed: set[str] | None) -> dict[str, Any]:
        if raw is None:
            return {}
        if not isinstance(raw, dict):
            self._fail(where, "must be a mapping")
        for key in raw:
            if allowed is not None and key not in allowed:
                self._fail(f"{where}.{key}", "this key is not supported by the namespace runner")
        return raw

    def _fail(self, where: str, what: str) -> None:
        raise LabError(f"{self._file}: {where}: {what}")


def _merge(*layers: dict[str, Any]) -> dict[str, Any]:
    """Later layers win; lists of binds add up, and a later bind of the same target replaces an earlier one."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            if key == "binds":
                merged[key] = _merge_binds(merged.get(key, []), value)
            elif key in ("env", "labels", "sysctls"):
                merged[key] = {**merged.get(key, {}), **(value or {})}
            else:
                merged[key] = value
    return merged


def _merge_binds(before: list[str], after: list[str]) -> list[str]:
    by_target = {str(bind).split(":")[1:2][0] if ":" in str(bind) else str(bind): bind for bind in [*before, *after]}
    return list(by_target.values())


def _magic(text: str, node: str, lab: str) -> str:
    return text.replace("__clabNodeName__", node).replace("__clabLabName__", lab)
