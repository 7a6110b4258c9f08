"""The study behind `python -m aerolane.bench report`: many comparisons with other clients, and one report of them.

| module | what it does |
|---|---|
| `statistics` | medians with intervals, ratios of rounds that were measured in turn |
| `cells` | what a study is made of: groups of clients side by side |
| `groups`, `program_groups` | what is measured |
| `programs` | what is no loop of single calls: `patterns`, `processes`, `writers`, and `aerolane.bench.services` |
| `syscalls` | counts system calls from outside |
| `environment` | machine, kernel, versions |
| `journal` | the rounds as they come, so that a study can be resumed |
| `measure` | runs clusters, children and rounds |
| `results` | `results.json`: everything that the report shows |
| `findings` | what the figures say, and what they do not |
| `plots`, `page`, `tables` | the report for people |
| `documents`, `brief` | tables of a study in other documents |
"""
