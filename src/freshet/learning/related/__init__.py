"""Finds the pages of a collection that may tell about the changes of another page."""
