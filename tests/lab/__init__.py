# SPDX-License-Identifier: Apache-2.0
"""A fabric in network namespaces with real FRR; see README.md beside this file."""

from .errors import LabError, Timeout
from .fabric import Lab
from .host import Host
from .node import Node
from .planed import Planed
from .wait import holds_for, wait_until
from .watch import Change, TableWatch

__all__ = ["Change", "Host", "Lab", "LabError", "Node", "Planed", "TableWatch", "Timeout", "holds_for", "wait_until"]
