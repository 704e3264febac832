"""Holds a listening socket and starts a program with it, again each time that it ends, as systemd does for a socket unit.

Usage: socket-holder.py SOCKET PROGRAM ARGS...
"""

import ctypes
import os
import signal
import socket
import sys
import time

PR_SET_PDEATHSIG = 1

path = sys.argv[1]
os.makedirs(os.path.dirname(path), exist_ok=True)
held = socket.socket(socket.AF_UNIX)
held.bind(path)
os.chmod(path, 0o600)
held.listen(64)
while True:
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        descriptor = held.detach()
        if descriptor != 3:
            os.dup2(descriptor, 3)
            os.close(descriptor)
        os.set_inheritable(3, True)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="admin")
        os.execvp(sys.argv[2], sys.argv[2:])
    os.waitpid(child, 0)
    time.sleep(0.2)
