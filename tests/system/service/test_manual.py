# SPDX-License-Identifier: Apache-2.0
"""The manual pages: well-formed, and planed(8) has the flags that planed has."""

import re
import subprocess
from pathlib import Path

import pytest
from lab.planed import binary

MAN = Path(__file__).resolve().parents[3] / "config" / "man"


@pytest.mark.parametrize("page", ["planed.8", "planectl.1", "planed.yaml.5"])
def test_page_is_well_formed(page: str) -> None:
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", page], cwd=MAN, check=False, capture_output=True, text=True)

    # What the page refers to need not be installed here, and then mandoc guesses that its list is old.
    said = (done.stdout + done.stderr).splitlines()
    assert [line for line in said if "outdated mandoc.db" not in line] == []


def test_every_page_is_there() -> None:
    assert {path.name for path in MAN.iterdir()} == {"README.md", "planed.8", "planectl.1", "planed.yaml.5"}


def test_planed_has_the_flags_of_its_page() -> None:
    said = subprocess.run([binary(), "--help"], check=True, capture_output=True, text=True).stdout
    flags = set(re.findall(r"(--[a-z-]+)", said))

    page = (MAN / "planed.8").read_text(encoding="utf-8")

    assert {f"-{flag}" for flag in re.findall(r"Fl (-[a-z-]+)", page)} == flags
    assert {f"-{flag}" for flag in re.findall(r"^\.It (?:Fl h , )?Fl (-[a-z-]+)", page, re.MULTILINE)} == flags
