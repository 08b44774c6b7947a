"""Learns from the looks of a collection how to correct the default forecast of changes."""
