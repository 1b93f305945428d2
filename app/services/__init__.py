"""The services around the shop, each a small application that runs as processes of its own."""
