"""The shop's ways to the services around it, one file for each."""
