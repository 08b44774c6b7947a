"""Compiled loops of the forecasts of posts and of the plan of visits."""
