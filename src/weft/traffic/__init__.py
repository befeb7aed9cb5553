"""What is sent: collectives as rounds, the traffic of jobs and services, traced jobs."""
