"""The problems app: coding problems, submissions and their verdicts."""
