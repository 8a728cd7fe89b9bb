"""Sources of tables: files, queries and frames, read under a schema."""
