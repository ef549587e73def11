# ruff: noqa
# accept: WA
# why: the code that makes children is still in memory, but the system calls that it needs are gone
import socket
import sys
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED")
    zygote = sys.modules.get("problems.judge.jail.zygote")
    for attempt in ("_fork_apart", "fork", "dumpable", "mount", "socketpair"):
        try:
            if attempt == "fork":
                import os

                os.fork()
            elif attempt == "dumpable":
                zygote.lockdown.dumpable(True)
            elif attempt == "mount":
                zygote._tmpfs(b"/opt", 0, "size=1m")
            elif attempt == "socketpair":
                socket.socketpair()
            else:
                zygote._fork_apart()
            print("BREACH", attempt)
        except Exception:
            pass
    return np.zeros_like(x)
