"""Readers of traces: recorded pages in several formats, and generated ones."""
