"""What the local fleet starts with: a small catalogue and three accounts. No shop elsewhere has them."""
