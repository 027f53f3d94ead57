# SPDX-License-Identifier: Apache-2.0
"""Every test that asks for `lab` runs once for each FRR release, on a fabric that is as good as new.

A fabric is up once per release and cleaned between tests. After a failure, or after a test that says it `spoils_lab`,
the next test gets a fabric made anew.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import lab as fabric_lab  # noqa: E402
import scene  # noqa: E402

RELEASES = ("8.4", "10.3")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--frr", action="append", choices=RELEASES, help="only this FRR release (may be given twice; default: both)"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "spoils_lab: leaves the fabric in a state that cleaning does not undo")
    config.addinivalue_line("markers", "one_release: what FRR does is of no matter here, and shown by other tests")
    config.addinivalue_line("markers", "alone: loads the machine's tables or measures time, nothing else may run beside it")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "frr" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("frr") or RELEASES
        if metafunc.definition.get_closest_marker("one_release"):
            chosen = chosen[-1:]
        metafunc.parametrize("frr", chosen, ids=[f"frr-{release}" for release in chosen])


@pytest.hookimpl(tryfirst=True)  # Before xdist reads who belongs together.
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One release after the other, so that only one fabric is up; what must run alone comes last."""

    for item in items:
        item.add_marker(pytest.mark.xdist_group(_company_of(item)))

    def rank(item: pytest.Item) -> tuple[int, bool]:
        release = getattr(item, "callspec", None) and item.callspec.params.get("frr")  # type: ignore[attr-defined]
        return RELEASES.index(release) if release else -1, item.get_closest_marker("alone") is not None

    items.sort(key=rank)


def _company_of(item: pytest.Item) -> str:
    """What is not torn apart where several workers share the tests: those of one file, on a fabric of one release.

    Each worker keeps a fabric of its own. It makes another when it comes to the other release, which is once.
    """
    if "lab" in item.fixturenames:  # type: ignore[attr-defined]
        return f"fabric {item.callspec.params['frr']} {item.path.stem}"  # type: ignore[attr-defined]
    return str(item.path)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome: Any = yield
    report = outcome.get_result()
    if report.failed:
        item.stash[_FAILED] = True
        running = item.config.stash.get(_POOL, None)
        if running is not None and running.lab is not None:
            report.sections.append(("planed", scene.logs_of(running.lab)))


_FAILED = pytest.StashKey[bool]()
_POOL: "pytest.StashKey[scene.Pool]" = pytest.StashKey()


@pytest.fixture(scope="session")
def pool(pytestconfig: pytest.Config) -> Iterator[scene.Pool]:
    fabrics = scene.Pool()
    pytestconfig.stash[_POOL] = fabrics
    yield fabrics
    fabrics.discard()


@pytest.fixture
def lab(frr: str, pool: scene.Pool, request: pytest.FixtureRequest) -> Iterator[fabric_lab.Lab]:
    """The two-plane fabric: BGP established, no planed, no host heard."""
    yield pool.get(frr)
    spoilt = request.node.stash.get(_FAILED, False) or request.node.get_closest_marker("spoils_lab")
    if spoilt:
        faults = scene.faults_of(pool.lab) if pool.lab else []
        pool.discard()
    else:
        faults = pool.clean()
    assert not faults, faults
