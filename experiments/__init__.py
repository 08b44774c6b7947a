"""The papers' experiments, run anew on real data and on generated worlds."""
