"""A process that has imported the program, and is forked for every run of it: what takes long is done once."""

import ctypes
import json
import os
import resource
import signal
import socket
import struct
import sys
from typing import Any, TypeAlias

from expost.cli import main
from expost.jobs.finetuning.recipe import plan_training
from tests.faults.head import head
from tests.faults.phases import prepare

Order: TypeAlias = dict[str, Any]

CAPABILITIES = 0x20080522
"""The version of capset's words, which are all zero to drop everything."""


def serve(control: socket.socket) -> Order | None:
    """Fork a process for every order, and say how one is; returns in a process that was forked, or after the last."""
    while True:
        text, streams, _, _ = socket.recv_fds(control, 2**16, 2)
        if not text:
            return None
        order: Order = json.loads(text)
        if "status" in order:
            found, status = os.waitpid(order["status"], os.WNOHANG)
            control.sendall(json.dumps(os.waitstatus_to_exitcode(status) if found else None).encode())
            continue
        child = os.fork()
        if not child:
            control.close()
            _settle(order, *streams)
            return order
        for each in streams:
            os.close(each)
        control.sendall(json.dumps(child).encode())


def _settle(order: Order, output: int, errors: int) -> None:
    """Let a forked process have the folder, the variables, the streams and the signal of a terminal that closes."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # tests that were begun by nohup, or in a job, ignore it
    os.chdir(order["here"])
    os.environ.clear()
    os.environ.update(order["environment"])
    os.dup2(output, 1)
    os.dup2(errors, 2)
    os.closerange(3, max(output, errors) + 1)
    encoding = order["environment"]["PYTHONIOENCODING"]
    sys.stdout = sys.__stdout__ = open(1, "w", encoding=encoding, closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", encoding=encoding, closefd=False)  # type: ignore[misc]  # noqa: SIM115


def run(order: Order) -> None:
    """Run the program as it is ordered."""
    prepare(*order["names"])
    if (largest := order["largest"]) is not None:  # no file may grow beyond it, as on a disk that is full
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    if os.geteuid() == 0 and order["unprivileged"]:  # so that a folder which is read-only is so for root, too
        assert ctypes.CDLL(None).capset(struct.pack("Ii", CAPABILITIES, 0), bytes(24)) == 0
    sys.argv = ["expost", *order["words"]]
    main()


def live(kind: str, word: str) -> None:
    """Serve orders that come from a socket, or run the program once."""
    if kind == "serve":
        plan_training(head())  # what a step costs is remembered from here on
    ordered = json.loads(word) if kind == "order" else serve(socket.socket(fileno=int(word)))
    if ordered is not None:
        run(ordered)
