"""Stands for torch.distributed: one group of processes, each two of which have a connection.
MASTER_ADDR is a folder, in which rank r is reached by the socket r. A rank sends another one message
at a time."""

import os
import socket
import threading
import time


class group:
    WORLD = None


class _Work:
    def __init__(self, move):
        self.error = None
        self.thread = threading.Thread(target=self._run, args=(move,), daemon=True)
        self.thread.start()

    def _run(self, move):
        try:
            move()
        except OSError as error:
            self.error = error

    def wait(self):
        self.thread.join()
        if self.error:
            raise RuntimeError(f"of the stand-in: {self.error}")


class _Group:
    def __init__(self, rank, size, folder, seconds):
        self._rank, self._size, self._to = rank, size, {}
        listener = self._socket(seconds)
        listener.bind(f"{folder}/{rank}")
        listener.listen(size)
        end = time.monotonic() + seconds
        for lower in range(rank):
            self._to[lower] = self._socket(seconds)
            while self._to[lower].connect_ex(f"{folder}/{lower}"):
                if time.monotonic() > end:
                    raise TimeoutError("timed out")
                time.sleep(0.01)
            self._to[lower].sendall(bytes([rank]))
        for _ in range(rank + 1, size):
            higher = listener.accept()[0]
            higher.settimeout(seconds)
            self._to[higher.recv(1)[0]] = higher

    @staticmethod
    def _socket(seconds):
        made = socket.socket(socket.AF_UNIX)
        made.settimeout(seconds)
        return made

    def rank(self):
        return self._rank

    def size(self):
        return self._size

    def send(self, tensors, rank, tag):
        return _Work(lambda: self._to[rank].sendall(tensors[0]))

    def recv(self, tensors, rank, tag):
        def move():
            left = tensors[0]
            while left:
                count = self._to[rank].recv_into(left)
                if not count:
                    raise ConnectionError("closed by the other")
                left = left[count:]

        return _Work(move)


def init_process_group(backend, timeout):
    assert backend == "gloo"
    try:
        group.WORLD = _Group(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]),
                             os.environ["MASTER_ADDR"], timeout.total_seconds())
    except OSError as error:
        raise RuntimeError(str(error)) from None


def destroy_process_group():
    group.WORLD = None
