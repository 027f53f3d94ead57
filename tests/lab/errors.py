# SPDX-License-Identifier: Apache-2.0
"""The two ways a lab tells that something is not as it should be."""


class LabError(Exception):
    """The lab itself could not do what was asked: a fault of the file, the machine or a command."""


class Timeout(AssertionError):
    """Something that a test waits for did not come true: a failed claim, not a broken lab."""
