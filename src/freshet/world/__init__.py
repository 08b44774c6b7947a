"""A generated web whose true changes are known: pages to serve, and populations for statistics."""
