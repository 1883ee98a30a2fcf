"""The harness: players play scenarios, and evaluators score their attempts."""
