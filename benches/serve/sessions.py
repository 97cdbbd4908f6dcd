"""A client with many sessions of one run; see the command `sessions`."""

import socket
import sys
import time

port, reference, count, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])


class Connection:
    """Packets in text form, one a line of Preserves."""

    def __init__(self):
        self.stream = socket.create_connection(("127.0.0.1", int(port)))
        self.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.send(f"[[0 <A <resolve {reference} #:[0 0]> 1>]]")
        self.wait(b"accepted")

    def send(self, packet):
        self.stream.sendall(packet.encode())

    def wait(self, part):
        """Reads until something with this part has come."""
        while part not in self.buffer:
            read = self.stream.recv(1 << 20)
            if not read:
                sys.exit(f"the server closed the connection: {self.buffer[-500:]!r}")
            self.buffer += read
        self.buffer = self.buffer[self.buffer.index(part) + len(part) :]


def request(session, tag, text):
    fields = f"':session' \"{session}\" ':payload' <text \"{text}\"> ':tag' \"{tag}\""
    return f"[[1 <M <'session/request' {fields}>>]]"


def seen(session, number):
    return f"[[1 <M <'session/seen' ':session' \"{session}\" ':number' {number}>>]]"


client = Connection()
kind = '1: <bind <_>> 3: <lit result> 7: <bind <_>>'
client.send(f"[[1 <A <Observe <group <rec 'session/event'> {{{kind}}}> #:[0 2]> 2>]]")

begun = time.perf_counter()
for number in range(count):
    client.send(request(f"s{number}", f"begin-{number}", "(define x 1)"))
for number in range(count):
    client.wait(b"begin-")
took = time.perf_counter() - begun
print(f"beginning {count} sessions, ms each: {1000 * took / count:.2f}")

# One loops for ever, and one floods.
rude = Connection()
rude.send(request("loop", "l", "(let loop () (loop))"))
flood = "(let loop ((n 0)) (assert! (list (quote noise) n)) (yield) (loop (+ n 1)))"


def measure(name, each):
    times = []
    for number in range(rounds):
        session = f"s{number % count}"
        each(number)
        start = time.perf_counter()
        client.send(request(session, f"{name}-{number}.", "(+ 1 2)"))
        client.wait(f"{name}-{number}.".encode())
        times.append(time.perf_counter() - start)
        client.send(seen(session, 1000000))
        time.sleep(0.001)
    times.sort()
    at = lambda part: 1000 * times[min(len(times) - 1, int(part * len(times)))]
    print(f"{name}, ms: median {at(0.5):.2f}, p99 {at(0.99):.2f}, maximum {times[-1] * 1000:.2f}")


measure("one session loops", lambda number: None)
for _ in range(200):
    rude.send(request("flood", f"f{_}", "(define y 2)"))
rude.send(request("flood", "forever", flood))
measure("one loops and one floods", lambda number: rude.send(request("flood", f"g{number}", "(car 1)")))
