"""The demonstration: a simulated web on loopback, crawled on a fast clock and scored."""
