"""Trains and measures what tells flat, sloped and knotted change curves apart."""
