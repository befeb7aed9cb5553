"""From a cluster to what it takes to build and to run: bill of materials and cost."""
