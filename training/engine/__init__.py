"""Real distributed training of a tiny language model: pure torch, no Django.

Reading order: `config` (what may be asked for), `model`, `data`, `strategies/` (one technique a file, top to bottom),
`rank` (what one process does), `gang` (one run: fork the ranks, gather their events, end them), `parity` (the same run
in one process), `launcher` (the warm daemon), `client` (how others reach it), `cli`.

Importing this package, `config` or `client` does not import torch: the site's processes use those two.
"""
