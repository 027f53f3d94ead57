# SPDX-License-Identifier: Apache-2.0
"""Waiting by polling with a deadline, the only way in which tests wait."""

import time
from collections.abc import Callable
from typing import Any

from .errors import Timeout


def wait_until(
    predicate: Callable[[], Any], deadline: float, every: float = 0.01, what: str = ""
) -> float:
    """Polls until `predicate` is true; the seconds that took. A predicate may raise AssertionError for "not yet"."""
    start = time.monotonic()
    while True:
        last = _ask(predicate)
        took = time.monotonic() - start
        if last and not isinstance(last, AssertionError):
            return took
        if took > deadline:
            raise Timeout(f"{what or 'not true'} after {deadline:g} s; last answer: {last!r}")
        time.sleep(every)


def holds_for(predicate: Callable[[], Any], duration: float, every: float = 0.02, what: str = "") -> None:
    """The opposite wait: raises as soon as `predicate` is false within `duration` seconds."""
    end = time.monotonic() + duration
    while time.monotonic() < end:
        last = _ask(predicate)
        if not last or isinstance(last, AssertionError):
            raise Timeout(f"{what or 'it'} did not hold for {duration:g} s; last answer: {last!r}")
        time.sleep(every)


def _ask(predicate: Callable[[], Any]) -> Any:
    try:
        return predicate()
    except AssertionError as error:
        return error
