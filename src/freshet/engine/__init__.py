"""Map a pure function over batches, in several processes."""
