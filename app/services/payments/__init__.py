"""A sandbox acquirer: payments that behave as a bank's do, with money that is not there."""
