"""A way to a server over which a test has power: it passes everything on, nothing, or byte by byte."""

import socket
import threading
import time
from types import TracebackType

PASS, HOLE, DRIP = "pass", "hole", "drip"
DRIP_SECONDS = 0.1


class Proxy:
    """Listens on a port of its own; `mode` is asked for each piece that goes through, `heard` is what clients said."""

    def __init__(self, port: int) -> None:
        self.mode = PASS
        self.heard = bytearray()
        self._server_port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._sockets: list[socket.socket] = []
        self._ended = threading.Event()

    def __enter__(self) -> "Proxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()
        for one in (self._listener, *self._sockets):
            one.close()

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server_port))
            except OSError:
                return
            self._sockets += [client, server]
            for source, sink, slow in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pump, args=(source, sink, slow), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, slow: bool) -> None:
        try:
            while data := source.recv(65536):
                if not slow:
                    self.heard += data
                for piece in [data] if self.mode != DRIP or not slow else [data[place : place + 1] for place in range(len(data))]:
                    if self.mode == DRIP and slow:
                        time.sleep(DRIP_SECONDS)
                    while self.mode == HOLE and not self._ended.is_set():
                        time.sleep(0.02)  # nothing is refused, nothing closed
                    sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one of the two is gone
