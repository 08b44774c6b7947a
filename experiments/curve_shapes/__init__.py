"""Trains and evaluates the classifier of flat, sloped and knotted change curves."""
