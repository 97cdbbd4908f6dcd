"""A relay of the Summoner protocol: each line of a client goes to every other client.

usage: summoner_relay.py   prints its port, and ends when its standard input does
"""
import json
import socketserver
import sys
import threading

clients = {}
lock = threading.Lock()


class Client(socketserver.StreamRequestHandler):
    def handle(self):
        address = "%s:%d" % self.client_address
        with lock:
            clients[address] = self.wfile
        try:
            for line in self.rfile:
                content = line.decode("utf-8").rstrip("\n")
                passed = json.dumps({"remote_addr": address, "content": content}) + "\n"
                with lock:
                    others = [writer for name, writer in clients.items() if name != address]
                for writer in others:
                    writer.write(passed.encode("utf-8"))
        finally:
            with lock:
                del clients[address]
                others = list(clients.values())
            for writer in others:
                # Words for people, as the protocol allows.
                writer.write(b"Warning: a client has left\n")


class Relay(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


with Relay(("127.0.0.1", 0), Client) as relay:
    threading.Thread(target=relay.serve_forever, daemon=True).start()
    print(relay.server_address[1], flush=True)
    sys.stdin.read()
