"""The same path replayed on a recorded or generated web."""
