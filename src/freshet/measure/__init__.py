"""Two views become a Change."""
