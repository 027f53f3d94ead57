#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs every kind of test in turn and counts them; the engine behind tests/run.

Each suite reports through a JUnit file, so that what is counted is what the test programs themselves
said. A suite that ends without one has failed, whatever its exit code.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NO_TESTS_COLLECTED = 5  # pytest's exit code.
# Several files are compiled as one, so that headers and templates are not done anew for each. A build folder that is there
# already stays as it is: for whoever changes one file, compiling only that one is faster.
UNITY = ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=8"]
# Only when nobody else wants a processor: within its session, and the session among others (sched(7), autogroup).
ASIDE = ["sh", "-c", 'echo 19 >/proc/self/autogroup; exec chrt --idle 0 "$@"', "sh"]


@dataclass
class Tally:
    """What the suites have counted so far."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    second_try: list[str] = field(default_factory=list)

    def add_junit(self, suite: str, file: Path, code: int) -> None:
        """Adds one suite's report; a missing or unhappy one without a failed test is a failure itself."""
        cases = ElementTree.parse(file).getroot().iter("testcase") if file.exists() else []
        seen, failed_before = 0, len(self.failed)
        for case in cases:
            seen += 1
            name = f"{suite}: {name_of(case)}"
            if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
                self.failed.append(name)
            elif (skipped := case.find("skipped")) is not None:
                self.skipped.append(f"{name}: {skipped.get('message') or 'no reason given'}")
            else:
                self.passed += 1
        if (code != 0 and len(self.failed) == failed_before) or seen == 0:
            self.failed.append(f"{suite}: ended with code {code} and {seen} tests")

    def add(self, name: str, passed: bool) -> None:
        if passed:
            self.passed += 1
        else:
            self.failed.append(name)


def name_of(case: ElementTree.Element) -> str:
    """Its name without the company it ran in (pytest-xdist)."""
    return str(case.get("name")).split("@")[0]


@dataclass
class Suite:
    """One kind of test: `names()` lists what is in it, `run(words, tally)` runs those that match."""

    name: str
    what: str
    names: Callable[[], list[str]]
    run: Callable[[list[str], Tally], None]


def say(text: str) -> None:
    print(f"== {text}", flush=True)


def call(command: list[str], **kwargs: object) -> int:
    print("+ " + " ".join(command), flush=True)
    return subprocess.run(command, cwd=ROOT, check=False, **kwargs).returncode


def jobs() -> str:
    return str(os.cpu_count() or 1)


def build_commands(preset: str) -> list[list[str]]:
    fresh = not (ROOT / "build" / preset / "CMakeCache.txt").exists()
    configure = ["cmake", "--preset", preset, *(UNITY if fresh else [])]
    return [configure, ["cmake", "--build", "--preset", preset, "-j", jobs()]]


def build(preset: str) -> None:
    """Configures and builds a preset; nothing can be tested without."""
    for command in build_commands(preset):
        if call(command) != 0:
            sys.exit(f"tests/run: {' '.join(command)} failed")


def build_aside(presets: list[str]) -> threading.Thread:
    """Builds with the time of processors that nobody else wants, while tests wait for daemons.

    It says nothing: build() comes after it, and builds again, aloud, what has failed here.
    """

    def work() -> None:
        for preset in presets:
            for command in build_commands(preset):
                subprocess.run([*ASIDE, *command], cwd=ROOT, check=False, capture_output=True, start_new_session=True)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def matching(names: list[str], words: list[str]) -> list[str]:
    return [name for name in names if not words or any(word in name for word in words)]


# CTest: unit tests, simulation, lint, corpora ----------------------------------------------------


def ctest_names(preset: str) -> list[str]:
    build(preset)
    listing = subprocess.run(
        ["ctest", "--test-dir", f"build/{preset}", "-N"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return re.findall(r"^ *Test +#\d+: (.+)$", listing, re.MULTILINE)


def run_ctest(preset: str, words: list[str], tally: Tally) -> None:
    names = matching(ctest_names(preset), words)
    if not names:
        return
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "ctest.xml"
        pattern = "^(" + "|".join(names) + ")$"
        code = call(
            ["ctest", "--test-dir", f"build/{preset}", "-R", pattern, "-j", jobs(), "--output-on-failure"]
            + ["--output-junit", str(report), "--timeout", "1200"]
        )
        tally.add_junit(preset, report, code)


# System tests: planed with real kernel and FRR ---------------------------------------------------


def pytest_names() -> list[str]:
    listing = subprocess.run(
        ["/usr/bin/python3", "-m", "pytest", "tests/lab", "tests/system", "--collect-only", "-q"],
        cwd=ROOT, check=False, capture_output=True, text=True,
    ).stdout
    return [line for line in listing.splitlines() if "::" in line]


def run_pytest(arguments: list[str], report: Path) -> int:
    """The system tests with the sanitizers' planed. Its quarantine of freed memory would count as planed's."""
    environment = dict(os.environ, PLANED=str(ROOT / "build/asan/bin/planed"), ASAN_OPTIONS="quarantine_size_mb=8")
    command = ["/usr/bin/python3", "-m", "pytest", "-v", "--tb=short", f"--junitxml={report}", *arguments]
    return call(command, env=environment)


# One more than there are processors: they wait for timers of kernel and daemons for half of their time.
SIDE_BY_SIDE = ["-n", str((os.cpu_count() or 1) + 1), "--dist", "loadgroup", "-m", "not alone"]


def failed_in(report: Path, names: list[str]) -> list[str]:
    """Which of `names` this report says have failed."""
    found = set()
    for case in ElementTree.parse(report).getroot().iter("testcase") if report.exists() else []:
        if case.find("failure") is not None or case.find("error") is not None:
            found.add(f"{str(case.get('classname')).replace('.', '/')}.py::{name_of(case)}")
    return [name for name in names if name in found]


def run_system(words: list[str], tally: Tally) -> None:
    """Most tests share the processors, then those marked `alone` have them each for itself.

    A test that fails is tried once more, alone: what passes then is counted, and named at the end. Real daemons
    on a machine with two cores sometimes miss a deadline because of what else runs. The names are printed so
    that nobody takes such a test for a good one.
    """
    everything = pytest_names()
    names = matching(everything, words)
    if words and not names:
        return
    build("asan")
    aside = build_aside([] if words else ["release"])
    chosen = names if words else ["tests/lab", "tests/system"]
    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder) / "again.xml"
        first, second, failed = Tally(), Tally(), []
        for number, how in enumerate((SIDE_BY_SIDE, ["-m", "alone"])):
            report = Path(folder) / f"pytest-{number}.xml"
            if number == 1:
                aside.join()  # Those that measure have the machine for themselves.
            code = run_pytest([*how, *chosen], report)
            if words and code == NO_TESTS_COLLECTED:
                continue
            first.add_junit("system", report, code)
            failed += failed_in(report, everything)
        if failed and len(failed) == len(first.failed) and first.passed:
            second.add_junit("system", again, run_pytest(failed, again))
            tally.second_try += [name for name in first.failed if name not in second.failed]
            first.failed, first.passed = second.failed, first.passed + second.passed
        tally.passed += first.passed
        tally.failed += first.failed
        tally.skipped += first.skipped


# Demo, packages and benches ----------------------------------------------------------------------


CANNOT_HERE = 77  # A script's word that this machine cannot do it; it has said why.


def run_script(name: str, command: list[str], words: list[str], tally: Tally) -> None:
    if matching([name], words):
        build("release")
        code = call(command)
        if code == CANNOT_HERE:
            tally.skipped.append(f"{name}: cannot be done here, see above")
        else:
            tally.add(name, code == 0)


SUITES = [
    Suite(
        "asan",
        "unit tests, simulation, lint and fuzz corpora under ASan and UBSan",
        lambda: ctest_names("asan"),
        lambda words, tally: run_ctest("asan", words, tally),
    ),
    Suite("system", "planed (ASan and UBSan) with the real kernel and both FRR releases", pytest_names, run_system),
    Suite("demo", "the demonstration, on the release build", lambda: ["demo"],
          lambda words, tally: run_script("demo", ["tests/demo"], words, tally)),
    Suite("package", "the Debian packages in a clean Debian 12: lintian, install, upgrade, purge", lambda: ["package"],
          lambda words, tally: run_script("package", ["tests/package/check"], words, tally)),
    Suite("bench", "the figures in their short form; ratios count", lambda: ["bench"],
          lambda words, tally: run_script("bench", ["tests/bench/bench", "--short"], words, tally)),
]


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/run")
    parser.add_argument("--list", action="store_true", help="print every test's name and stop")
    parser.add_argument("words", nargs="*", metavar="NAME", help="only tests whose name contains one of these")
    arguments = parser.parse_args()
    if arguments.list:
        for suite in SUITES:
            for name in suite.names():
                print(f"{suite.name}: {name}")
        return 0
    tally = Tally()
    began = time.monotonic()
    for suite in SUITES:
        say(f"{suite.name}: {suite.what}")
        started = time.monotonic()
        suite.run(arguments.words, tally)
        say(f"{suite.name}: {time.monotonic() - started:.0f} s")
    for name in tally.skipped:
        print(f"skipped: {name}")
    for name in tally.second_try:
        print(f"passed at the second try only: {name}")
    for name in tally.failed:
        print(f"FAILED: {name}")
    print(f"ran for {time.monotonic() - began:.0f} s")
    skipped = f", {len(tally.skipped)} skipped" if tally.skipped else ""
    print(f"{tally.passed} passed, {len(tally.failed)} failed{skipped}")
    return 1 if tally.failed or tally.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
