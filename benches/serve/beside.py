"""The round trips of `benches/serve/beside`: plain packets in text, from clients without a library."""

import socket
import statistics
import sys
import time

ROUNDS = int(sys.argv[5])

# The smaller handles are those of observations.
FIRST = 10


class Client:
    """A client in the dataspace of a reference, which is its object 1."""

    def __init__(self, path, reference):
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(100):
            try:
                self.socket.connect(path)
                break
            except (FileNotFoundError, ConnectionRefusedError):
                time.sleep(0.1)
        self.heard = b""
        self.send(f"[[0 <A <resolve {reference} #:[0 0]> 1>]]")
        self.home = int(self.until(b"#:[").split(b"#:[")[-1].strip(b"]> ").split(b" ")[-1].strip(b","))

    def send(self, text):
        self.socket.sendall(text.encode() + b"\n")

    def replace(self, label, number):
        """Retracts the assertion of the round before, and makes that of this one, in one turn."""
        before = f"[{self.home} <R {number - 1}>]" if number > FIRST else ""
        self.send(f"[{before}[{self.home} <A <{label} n{number}> {number}>]]")

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

    def __init__(self, path, reference):
        self.ping, self.pong = Client(path, reference), Client(path, reference)
        for client, label in (self.ping, "pong"), (self.pong, "ping"):
            client.send(f"[[{client.home} <A <Observe <group <rec {label}> {{0: <bind <_>>}}> #:[0 2]> 2>]]")
        time.sleep(0.5)
        self.times = []

    def round(self, number):
        begun = time.perf_counter()
        self.ping.replace("ping", number)
        self.pong.until(b"n%d" % number)
        self.pong.replace("pong", number)
        self.ping.until(b"n%d" % number)
        self.times.append(1000 * (time.perf_counter() - begun))


pairs = [Pair(sys.argv[1], sys.argv[2]), Pair(sys.argv[3], sys.argv[4])]
for number in range(FIRST, FIRST + ROUNDS):
    for pair in pairs:
        pair.round(number)
ours, theirs = (statistics.median(pair.times) for pair in pairs)
print(f"a round trip, ms at the median: duet serve {ours:.3f}, syndicate-server {theirs:.3f}, ratio {ours / theirs:.2f}")
