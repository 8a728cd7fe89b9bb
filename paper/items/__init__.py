"""The figures and tables, a module for each; what a module has to offer is said in ``paper.engine.item``."""
