# SPDX-License-Identifier: Apache-2.0
"""The farm and its zebra."""

from fixtures import big_tables, farm, make_farm, zebra

__all__ = ["big_tables", "farm", "make_farm", "zebra"]
