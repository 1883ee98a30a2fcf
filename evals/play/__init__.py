"""Playing scenarios: attempts, probes, services and the simulated user."""
