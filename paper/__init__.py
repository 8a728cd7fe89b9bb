"""The paper, recomputed: a script for each figure or table, on the public interface only."""
