# SPDX-License-Identifier: Apache-2.0
"""Waiting by polling with a deadline, the only way in which tests wait."""

import time
from collections.abc import Callable
from typing import Any

from .errors import Timeout

_PAUSE_MIN, _PAUSE_MAX = 0.01, 0.1


def _pause(every: float | None, asked: float) -> float:
    """What costs something to ask is asked less often: questions were half of the processors' time, and whoever is waited
    for needs that too."""
    return every if every is not None else max(_PAUSE_MIN, min(2 * asked, _PAUSE_MAX))


def wait_until(
    predicate: Callable[[], Any], deadline: float, every: float | None = None, what: str = ""
) -> float:
    """Polls until `predicate` is true; the seconds that took. A predicate may raise AssertionError for "not yet".

    `every`: the pause between two questions, for whoever measures; by default it grows with what a question costs.
    """
    start = time.monotonic()
    while True:
        before = time.monotonic()
        last = _ask(predicate)
        now = time.monotonic()
        took = now - start
        if last and not isinstance(last, AssertionError):
            return took
        if took > deadline:
            raise Timeout(f"{what or 'not true'} after {deadline:g} s; last answer: {last!r}")
        time.sleep(_pause(every, now - before))


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
