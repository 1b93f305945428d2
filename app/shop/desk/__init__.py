"""The owner's desk: what may be changed there, by whom, and what is kept of it. Pure, as the shop is."""
