"""Training room: a Django app for runs (`training.apps`) and, apart from it, the pure torch engine (`training.engine`)."""
