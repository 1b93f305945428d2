"""Starting one process of a service from its settings; each service is a module, so that none imports the others."""
