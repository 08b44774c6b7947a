"""Estimators in scikit-learn's form that predict how pages will change."""
