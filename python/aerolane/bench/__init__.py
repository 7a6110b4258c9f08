"""The load harness: `python -m aerolane.bench`.

The same workload on Aerolane and on the other Python clients that are installed, each in a process of its own, with
one and the same hot loop (see `loops`). `python -m aerolane.bench --help` lists all options; docs/benchmarks.md
describes the method.
"""
