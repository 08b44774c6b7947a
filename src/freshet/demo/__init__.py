"""The demonstration: a small generated web and its history."""
