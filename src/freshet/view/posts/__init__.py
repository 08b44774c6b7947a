"""The posts of thread pages: time, author and text, found without rules for single sites."""
