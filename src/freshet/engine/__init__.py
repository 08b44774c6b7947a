"""Map a pure function over batches, on one machine or on many."""
