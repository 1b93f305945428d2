"""Reviews: written by customers, one for each product, moderated by the shop's owner."""
