"""The training room: a Django app for runs, and apart from it the pure torch engine (`training.engine`)."""
