"""Side-by-side benchmarks: each module but the harness measures one thing and names its figures."""
