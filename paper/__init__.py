"""The paper, recomputed: a module of ``items`` for each figure or table.

``python -m paper`` runs every item, writes ``results/NAME.json``, draws its figures from that file and writes the page
``docs/paper.md`` from all of them. What an item has to offer is said in ``paper.engine.item``.

| room | what it holds |
|---|---|
| ``items`` | the figures and tables, a script for each |
| ``exact``, ``tables``, ``heads``, ``peers`` | what the items compute: worst cases, Adult tables, heads, methods |
| ``summaries`` | printed numbers beside ours, and shares, means and ratios with intervals |
| ``show`` | the form of each item's result, its figures and its text |
| ``engine`` | what runs items, records results and makes the page |
| ``results`` | what was recorded |
"""
