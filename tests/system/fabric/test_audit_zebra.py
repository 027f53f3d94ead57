# SPDX-License-Identifier: Apache-2.0
"""planectl audit with real zebras: nothing on a quiet leaf, and what another owner of a route has done."""

import json
from typing import Any

from lab import Lab, Node, wait_until
from lab.planed import binary
from scene import SERVED, SOON, own, planed_config, start, wait_gone, wait_routes
from test_conflicts import RIVALS, Rival


def audit(leaf: Node) -> list[dict[str, Any]]:
    words = [str(binary().parent / "planectl"), "audit", "-o", "json", "--timeout", "20s"]
    done = leaf.run(words, check=False)
    assert done.returncode in (0, 1) and not done.stderr, f"exit {done.returncode}: {done.stderr}"
    differences: list[dict[str, Any]] = json.loads(done.stdout)
    assert (done.returncode == 1) == bool(differences), done.stdout
    return differences


def _start(leaf: Node) -> None:
    """Returns when every table can be read: what the plane has is known only some time after planed is ready."""
    start(leaf, planed_config(leaf, redis={"endpoint": "off"}))
    wait_until(lambda: "table" not in {row["kind"] for row in audit(leaf)}, SOON, what="a table cannot be read")


def test_hosts_that_come_and_go_leave_no_differences(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    _start(leaf)
    assert audit(leaf) == []

    for _ in range(2):
        host.announce(port="eth1")
        assert audit(leaf) == []
        wait_routes(far, own(host))
        host.cut("eth1")
        assert audit(leaf) == []
        wait_gone(far, own(host))
        host.restore("eth1")
        assert audit(leaf) == []


@RIVALS
def test_a_route_that_zebra_prefers_to_ours_is_a_difference(lab: Lab, rival: Rival) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    _start(leaf)
    host.announce(port="eth1")
    wait_routes(far, own(host))

    with rival(lab, leaf, own(host)):
        wait_gone(far, own(host))

        def told() -> bool:
            differences = audit(leaf)
            assert {row["object"] for row in differences} == set(own(host)), differences
            assert {(row["where"], row["kind"]) for row in differences} == {("zebra", "route")}
            assert all(row["wanted"].startswith(f"dev {SERVED} ") for row in differences)
            assert {row["action"] for row in differences} == {"sent again"}
            return True

        wait_until(told, SOON)

    wait_routes(far, own(host))
    wait_until(lambda: not audit(leaf), SOON, what="no differences")
