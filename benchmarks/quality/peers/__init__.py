"""Programs that run in the peers' own environments; they import nothing of ours."""
