"""``python -m feeds.sampleserver --port N``: serves the sample feeds on this machine only, for a first run offline.

A plain HTTP server with ETag and 304, so that the site fetches, parses, cleans and stores samples exactly as it does
with any publisher. ``./dev run`` starts it in development; port 0 takes a free port and prints it.
"""

from __future__ import annotations

import argparse
import hashlib
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import FrameType

from feeds.samples import SAMPLES
from feeds.samples.documents import TYPES, document

_PATHS = {f"/{sample.path}": sample for sample in SAMPLES}


class Handler(BaseHTTPRequestHandler):
    """GET and HEAD for the sample feeds; everything else is 404."""

    server_version = "PixelBankSamples"
    protocol_version = "HTTP/1.1"
    timeout = 10

    def do_GET(self) -> None:
        sample = _PATHS.get(self.path)
        if sample is None:
            self.send_error(404, "No such sample feed")
            return
        body = document(sample, datetime.now(UTC))
        etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        unchanged = etag in [tag.strip() for tag in self.headers.get("If-None-Match", "").split(",")]
        self.send_response(304 if unchanged else 200)
        self.send_header("ETag", etag)
        self.send_header("Cache-Control", "max-age=600")
        if not unchanged:
            self.send_header("Content-Type", f"{TYPES[sample.format]}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not unchanged and self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Quiet: the fetches are logged by the site."""


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m feeds.sampleserver", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="loopback port; 0 takes a free one (default)")
    options = parser.parse_args(argv)
    try:
        server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    except (OSError, OverflowError) as error:
        sys.stderr.write(f"Can't listen on port {options.port} of this machine: {error}. Choose another with --port.\n")
        return 1
    server.daemon_threads = True

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    sys.stdout.write(f"sample feeds at http://127.0.0.1:{server.server_port}/\n")
    sys.stdout.flush()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        return 0
    finally:
        server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
