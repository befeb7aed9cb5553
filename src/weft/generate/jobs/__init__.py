"""Jobs as Kubernetes runs them; one file is one kind."""
