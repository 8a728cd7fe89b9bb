"""The paper, recomputed: a module for each figure or table, on the public interface only.

``python -m paper`` runs every item, writes ``results/NAME.json``, draws its figures from that file and writes the page
``docs/paper.md`` from all of them. What an item has to offer is said in ``paper.item``.
"""
