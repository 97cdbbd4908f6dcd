"""The load of `benches/serve/run`: plain packets in text, from clients without any library."""

import socket
import statistics
import sys
import threading
import time

PORT, REFERENCE, PACKETS, ROUNDS = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])


class Client:
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", PORT))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lines = self.socket.makefile("rb")
        self.send(f"[[0 <A <resolve {REFERENCE} #:[0 0]> 1>]]")
        assert b"accepted" in self.lines.readline()

    def send(self, text):
        self.socket.sendall(text.encode() + b"\n")

    def sync(self):
        self.send("[[1 <S #:[0 9]>]]")
        line = self.lines.readline()
        assert b"<M #t>" in line, line


def flood(client):
    for number in range(PACKETS):
        client.send(f"[[1 <M <tick {number}>>]]")
    client.sync()


clients = [Client() for _ in range(10)]
threads = [threading.Thread(target=flood, args=[client]) for client in clients]
begun = time.monotonic()
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
spent = time.monotonic() - begun
print(f"{10 * PACKETS / spent:.0f} turns/s from 10 clients")

here, there = clients[:2]
there.send("[[1 <A <Observe <group <rec ping> {0: <bind <_>>}> #:[0 2]> 2>]]")
there.sync()
times = []
for number in range(ROUNDS):
    begun = time.monotonic()
    here.send(f"[[1 <M <ping {number}>>]]")
    there.lines.readline()
    times.append(1000 * (time.monotonic() - begun))
times.sort()
print(f"{statistics.median(times):.2f} ms from a message to its observer, p99 {times[int(0.99 * ROUNDS)]:.2f} ms")
