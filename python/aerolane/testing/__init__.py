"""Clusters to test against, in memory: no server needed. Do not use them in production.

* `EmbeddedCluster`: a cluster in a process of its own, with faults on demand
* `after`: steps of its `schedule`, after so many requests or so much time
* `python -m aerolane.testing`: the same until Ctrl-C
* `pytest_aerolane`, a package beside this one: fixtures for pytest, found by it on its own

The cluster is a program, `aerolane-embedded`, that comes with `pip install 'aerolane[testing]'`. `AEROLANE_EMBEDDED`
names another copy of it.
"""

from aerolane.testing.cluster import EmbeddedCluster
from aerolane.testing.fault import Fault
from aerolane.testing.node import EmbeddedNode
from aerolane.testing.schedule import After, Schedule, Step, after

__all__ = ["After", "EmbeddedCluster", "EmbeddedNode", "Fault", "Schedule", "Step", "after"]
