"""Collections and their pages as users handle them, one module per operation."""
