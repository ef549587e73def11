"""`python -m training.engine`."""

from __future__ import annotations

import sys

from training.engine.cli import main

sys.exit(main())
