"""The fleet on one machine: its servers, its replicas, and who watches over them."""
