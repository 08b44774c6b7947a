"""Learns from the looks of a collection how many new links its pages will bring."""
