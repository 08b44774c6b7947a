"""Policies that rank pages by a formula, and the forecast variables of formulas."""
