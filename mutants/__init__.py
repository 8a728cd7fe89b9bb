"""Mutation testing of the trusted base: small faults put into it on purpose, each of which some test must notice."""
