"""Compiled loops over term histories."""
