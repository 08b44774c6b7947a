"""The demonstration: a living web on loopback, crawled on a fast clock and scored on the truth."""
