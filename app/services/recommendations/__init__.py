"""Recommendations: what customers bought together, and what sells most where nobody did yet."""
