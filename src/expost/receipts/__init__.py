"""Receipts: what an auditor needs of a run, and the audit that works it out again."""
