"""Masks that hide noise (counters, clocks, adverts) from comparisons, and how masks are learned."""
