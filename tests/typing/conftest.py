collect_ignore = ["misuse"]  # programs to be type-checked, not imported
