"""Compiled loops, each beside the module of the same name."""
