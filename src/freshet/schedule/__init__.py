"""Forecasts become plans: page states, posteriors, values, budgets and the policies."""
