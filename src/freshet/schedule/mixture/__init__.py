"""The default policy with a safety net of simple policies, judged by their visits."""
