"""A client of the Summoner protocol: sends payloads and prints what the others send.

usage: summoner_client.py PORT COUNT PAYLOAD...   sends each payload, a JSON text, again and again
                                                  until COUNT payloads have come back; prints those
"""
import json
import socket
import sys
import threading


def type_of(value):
    if isinstance(value, dict):
        return {key: type_of(part) for key, part in value.items()}
    if isinstance(value, list):
        return [type_of(part) for part in value]
    names = {bool: "bool", int: "int", float: "float", str: "str", type(None): "null"}
    return names[type(value)]


def main(port, count, *payloads):
    connection = socket.create_connection(("127.0.0.1", int(port)), timeout=60)
    done = threading.Event()

    def send():
        # Whoever should hear it may not have joined yet.
        while not done.wait(0.2):
            for payload in map(json.loads, payloads):
                envelope = {"_version": "1.3.0", "_payload": payload, "_type": type_of(payload)}
                connection.sendall((json.dumps(envelope) + "\n").encode("utf-8"))

    threading.Thread(target=send, daemon=True).start()
    seen = []
    for line in connection.makefile("r", encoding="utf-8"):
        if line.startswith("Warning: "):
            continue
        envelope = json.loads(json.loads(line)["content"])
        assert envelope["_type"] == type_of(envelope["_payload"]), envelope
        payload = json.dumps(envelope["_payload"], sort_keys=True, ensure_ascii=False)
        if payload not in seen:
            seen.append(payload)
        if len(seen) == int(count):
            break
    done.set()
    print("\n".join(sorted(seen)))


main(*sys.argv[1:])
