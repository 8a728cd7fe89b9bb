"""The graphical model: fitted to noisy marginals, and drawn from."""
