"""Clusters to test against, in memory: no server needed. Never for production.

* `EmbeddedCluster`: a cluster in a process of its own, with faults on demand
* `python -m aerolane.testing`: the same until Ctrl-C
* `pytest_aerolane`, a package beside this one: fixtures for pytest, found by it on its own

The cluster is a program, `aerolane-embedded`, that comes with `pip install 'aerolane[testing]'`. `AEROLANE_EMBEDDED`
names another copy of it.
"""

from aerolane.testing.cluster import EmbeddedCluster
from aerolane.testing.fault import Fault
from aerolane.testing.node import EmbeddedNode

__all__ = ["EmbeddedCluster", "EmbeddedNode", "Fault"]
