"""Ranks of pages in the graph of links between them."""
