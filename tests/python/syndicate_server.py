"""A server of Syndicate's protocol: a gatekeeper at object 0 and one dataspace behind it.

usage: syndicate_server.py PORT   prints its port, and ends when its standard input does

The sturdyref is that of the key "" and the name "syndicate". Python's standard library only.
"""
import hashlib
import hmac
import itertools
import socketserver
import sys
import threading

from preserves_stream import Embedded, Reader, Record, Symbol, encode

NAME, KEY = "syndicate", b""
lock = threading.RLock()
# Assertions and observers of the dataspace, by client and handle.
facts, observers = {}, {}


def signature(key, content):
    return hmac.new(key, encode(content), hashlib.blake2s).digest()[:16]


def is_genuine(reference):
    parameters = reference.fields[0]
    signed = signature(KEY, parameters[Symbol("oid")])
    return parameters[Symbol("oid")] == NAME and hmac.compare_digest(signed, parameters[Symbol("sig")])


def captures(pattern, value):
    """The captures of a match, or None."""
    if pattern.label == "_":
        return []
    if pattern.label == "bind":
        inner = captures(pattern.fields[0], value)
        return None if inner is None else [value] + inner
    if pattern.label == "lit":
        return [] if encode(pattern.fields[0]) == encode(value) else None
    kind, entries = pattern.fields
    if kind.label == "rec":
        if not isinstance(value, Record) or encode(value.label) != encode(kind.fields[0]):
            return None
        parts = dict(enumerate(value.fields))
    elif kind.label == "arr":
        if not isinstance(value, list):
            return None
        parts = dict(enumerate(value))
    elif not isinstance(value, dict):
        return None
    else:
        parts = value
    found = []
    for key, inner in sorted(entries.items()):
        if key not in parts or (more := captures(inner, parts[key])) is None:
            return None
        found += more
    return found


class Observer:
    """An observer of a client, and the captures that it sees, each with a handle and a count."""

    def __init__(self, client, pattern, target):
        self.client, self.pattern, self.target, self.seen = client, pattern, target, {}

    def add(self, value):
        found = captures(self.pattern, value)
        if found is None:
            return
        key = encode(found)
        if key in self.seen:
            self.seen[key][1] += 1
        else:
            self.seen[key] = [next(self.client.handles), 1]
            self.client.post(self.target, Record(Symbol("A"), found, self.seen[key][0]))

    def remove(self, value):
        found = captures(self.pattern, value)
        if found is None:
            return
        key = encode(found)
        self.seen[key][1] -= 1
        if self.seen[key][1] == 0:
            self.client.post(self.target, Record(Symbol("R"), self.seen.pop(key)[0]))


class Client(socketserver.StreamRequestHandler):
    def post(self, target, event):
        try:
            self.request.sendall(encode([[target, event]]))
        except OSError:
            pass

    def handle(self):
        self.handles, reader = itertools.count(1), Reader(self.rfile.read)
        try:
            while True:
                packet = reader.value()
                if not isinstance(packet, list):
                    continue
                with lock:
                    for target, event in packet:
                        self.take(target, event)
        except (EOFError, OSError):
            pass
        finally:
            with lock:
                for key in [key for key in list(facts) + list(observers) if key[0] is self]:
                    self.retract(key)

    def take(self, target, event):
        if event.label == "S":
            peer = event.fields[0].value
            self.post(peer[1], Record(Symbol("M"), True))
        elif target == 0 and event.label == "A":
            self.resolve(*event.fields[0].fields)
        elif target == 1 and event.label == "A":
            self.insert(*event.fields)
        elif target == 1 and event.label == "R":
            self.retract((self, event.fields[0]))
        elif target == 1 and event.label == "M":
            for observer in list(observers.values()):
                found = captures(observer.pattern, event.fields[0])
                if found is not None:
                    observer.client.post(observer.target, Record(Symbol("M"), found))

    def resolve(self, reference, observer):
        if is_genuine(reference):
            answer = Record(Symbol("accepted"), Embedded([0, 1]))
        else:
            answer = Record(Symbol("rejected"), "invalid signature")
        self.post(observer.value[1], Record(Symbol("A"), answer, next(self.handles)))

    def insert(self, value, handle):
        facts[self, handle] = value
        if isinstance(value, Record) and value.label == "Observe":
            observer = Observer(self, value.fields[0], value.fields[1].value[1])
            observers[self, handle] = observer
            for fact in list(facts.values()):
                observer.add(fact)
        for observer in list(observers.values()):
            if not (isinstance(value, Record) and value.label == "Observe"):
                observer.add(value)

    def retract(self, key):
        observers.pop(key, None)
        value = facts.pop(key, None)
        if value is not None and not (isinstance(value, Record) and value.label == "Observe"):
            for observer in list(observers.values()):
                observer.remove(value)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


with Server(("127.0.0.1", int(sys.argv[1])), Client) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
