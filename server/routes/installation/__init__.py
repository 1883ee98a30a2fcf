"""What the installation has for all of its users: bundles and evaluations."""
