"""The round trips of `benches/serve/beside`: plain packets in text, from clients without a library."""

import socket
import statistics
import sys
import time

ROUNDS = int(sys.argv[5])


class Client:
    """A client in the dataspace of a reference, which is its object 1."""

    def __init__(self, port, reference):
        for _ in range(100):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port))
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.heard = b""
        self.send(f"[[0 <A <resolve {reference} #:[0 0]> 1>]]")
        self.home = int(self.until(b"accepted").split(b"#:[")[-1].strip(b"]> ").split(b" ")[-1].strip(b","))

    def send(self, text):
        self.socket.sendall(text.encode() + b"\n")

    def until(self, part):
        """Reads until something with this part has come, and a little of what is behind it."""
        while part not in self.heard or b"]" not in self.heard[self.heard.index(part) :]:
            read = self.socket.recv(1 << 16)
            if not read:
                sys.exit(f"the server closed the connection: {self.heard!r}")
            self.heard += read
        end = self.heard.index(b"]", self.heard.index(part)) + 1
        found, self.heard = self.heard[:end], self.heard[end:]
        return found


class Pair:
    """Two clients of a server that play ping and pong."""

    def __init__(self, port, reference):
        self.ping, self.pong = Client(port, reference), Client(port, reference)
        for client, label in (self.ping, "pong"), (self.pong, "ping"):
            client.send(f"[[{client.home} <A <Observe <group <rec {label}> {{0: <bind <_>>}}> #:[0 2]> 2>]]")
        time.sleep(0.5)
        self.times = []

    def round(self, number):
        begun = time.perf_counter()
        self.ping.send(f"[[{self.ping.home} <A <ping n{number}> {number}>]]")
        self.pong.until(b"n%d" % number)
        self.pong.send(f"[[{self.pong.home} <A <pong n{number}> {number}>]]")
        self.ping.until(b"n%d" % number)
        self.times.append(1000 * (time.perf_counter() - begun))
        self.ping.send(f"[[{self.ping.home} <R {number}>]]")
        self.pong.send(f"[[{self.pong.home} <R {number}>]]")


pairs = [Pair(int(sys.argv[1]), sys.argv[2]), Pair(int(sys.argv[3]), sys.argv[4])]
for number in range(10, 10 + ROUNDS):
    for pair in pairs:
        pair.round(number)
ours, theirs = (statistics.median(pair.times) for pair in pairs)
print(f"a round trip, ms at the median: duet serve {ours:.3f}, syndicate-server {theirs:.3f}, ratio {ours / theirs:.2f}")
