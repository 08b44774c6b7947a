"""Readers of the content types that pages come in."""
