"""The desk's ports on PostgreSQL; every change is one transaction with its entry in the audit log."""
