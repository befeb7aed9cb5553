"""Networks: fabrics, topologies, routings, and the graph with its names."""
