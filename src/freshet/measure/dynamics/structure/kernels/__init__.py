"""Compiled loops over DOM rows."""
