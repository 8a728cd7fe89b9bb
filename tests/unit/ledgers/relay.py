"""A relay between a program and a server, which cuts the line when a commit was made and before anybody is told."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import final

SOCKET = ".s.PGSQL.5432"
ENTRY = b'"curve"'
"""What an entry has in it, which goes to the server together with the commit."""


@final
class Relay:
    """Passes everything on until it is told to cut the next commit."""

    def __init__(self, folder: Path, server: Path) -> None:
        self.cut, self._cutting = False, False
        self._server = server / SOCKET
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / SOCKET))
        self._listening.listen()

    def accept(self) -> None:
        """Serve everybody who comes."""
        with suppress(OSError):
            while True:
                program, server = self._listening.accept()[0], socket.socket(socket.AF_UNIX)
                server.connect(str(self._server))
                Thread(target=self._up, args=(program, server), daemon=True).start()
                Thread(target=self._down, args=(program, server), daemon=True).start()

    def close(self) -> None:
        """Take nobody any more."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _up(self, program: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while said := program.recv(2**16):
                if self.cut and ENTRY in said:
                    self.cut, self._cutting = False, True
                server.sendall(said)
        with suppress(OSError):
            server.shutdown(socket.SHUT_WR)

    def _down(self, program: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while said := server.recv(2**16):
                if self._cutting:
                    self._cutting = False
                    program.shutdown(socket.SHUT_RDWR)
                program.sendall(said)
        for each in (program, server):
            each.close()


@contextmanager
def relay(folder: Path, server: Path) -> Iterator[Relay]:
    """One that serves as long as the block."""
    found = Relay(folder, server)
    serving = Thread(target=found.accept, daemon=True)
    serving.start()
    try:
        yield found
    finally:
        found.close()
        serving.join()
