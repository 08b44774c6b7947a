"""Which pages to fetch now, and what came of it: frontier, budget, bursts, plan and reasons."""
