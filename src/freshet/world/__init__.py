"""A generated web whose truth is known: pages to be served, and populations to be counted."""
