# SPDX-License-Identifier: Apache-2.0
"""What the system does not grant: told in a sentence, while everything that needs no such right goes on."""

import pytest
from farm import BRIDGE, READY, Farm, assert_idle, prefixes_of, settle
from support.fake_zebra import FakeZebra

_UNIT = "+net_admin,+net_raw"
_AS_UNIT = [
    "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", f"--inh-caps={_UNIT}", f"--ambient-caps={_UNIT}",
    f"--bounding-set=-all,{_UNIT}",
]  # fmt: skip


@pytest.mark.parametrize(
    "by",
    [
        ["setpriv", "--bounding-set=-net_admin"],
        ["setpriv", "--bounding-set=-all", "--inh-caps=-all"],
        ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"],
        ["unshare", "--user", "--map-root-user"],  # Every right, but over nothing that is here.
    ],
    ids=["root without it", "root without any", "nobody", "root of a user namespace"],
)
def test_no_right_to_cap_net_admin_is_told_and_hosts_are_announced_all_the_same(
    farm: Farm, zebra: FakeZebra, by: list[str]
) -> None:
    """Reading the kernel's tables needs no right; what cannot be done then is said with the reason."""
    farm.leaf.run(["chmod", "0777", "/var/lib/planed"])
    farm.leaf.path("/run/frr/zserv.api").chmod(0o777)
    servers = farm.make_hosts(10)
    farm.learn(servers)

    planed = farm.start_planed(by=by)

    planed.wait_log("degraded.begin .*CAP_NET_ADMIN", 5)
    settle(zebra, prefixes_of(servers))
    assert_idle(planed)
    farm.cut("swp1")
    settle(zebra, prefixes_of(server for server in servers if server.port != "swp1"), deadline=2)


def test_rights_of_the_unit_file_are_enough(farm: Farm, zebra: FakeZebra) -> None:
    farm.leaf.run(["chown", "nobody", "/var/lib/planed", "/run/planed"])  # StateDirectory= and RuntimeDirectory= do so.
    farm.leaf.path("/run/frr/zserv.api").chmod(0o777)
    servers = farm.make_hosts(10)
    farm.learn(servers)

    planed = farm.start_planed({"interfaces": [{"name": BRIDGE}], "redis": {"endpoint": "off"}}, by=_AS_UNIT)

    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 5)
    assert "degraded.begin" not in planed.log()


def test_settings_that_may_not_be_written_are_told_and_forwarding_goes_on(farm: Farm, zebra: FakeZebra) -> None:
    farm.leaf.run(["mount", "--bind", "/proc/sys", "/proc/sys"])
    farm.leaf.run(["mount", "-o", "remount,bind,ro", "/proc/sys"])
    servers = farm.make_hosts(10)
    farm.learn(servers)

    planed = farm.start_planed()

    settle(zebra, prefixes_of(servers))
    planed.wait_log("degraded.begin .*[Rr]ead-only", 5)
    assert_idle(planed)
