"""One thread for each process: ranks are the parallelism here, and only a single-threaded process may fork safely."""

from __future__ import annotations

import os


def one_thread_each() -> None:
    """Keep OpenMP and OpenBLAS from starting threads. To be called before torch or numpy is imported."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
