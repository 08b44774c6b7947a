"""The papers' experiments, repeated on real data and on generated worlds."""
