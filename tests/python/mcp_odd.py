"""A server of the Model Context Protocol, revision 2025-06-18, that answers as no server should.

Its tool `say` answers in the form that its argument `kind` names; its tool `form` asks the person
for everything that a form can have, `exacting` for what has limits. With the argument `linger` it takes a while to end; with `empty`
it answers methods that it does not know with an empty result; with `circle` each page of its list
names the same cursor for the next; with `torn` the second page is an error; with `no-list` its list
is missing; with `blank` the name of a tool has a blank, with `lines` that of an argument several
lines; with `later` it speaks a later revision only. Python's standard library only.
"""
import json
import sys
import time


def say(line):
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.flush()


def answer(id, result):
    return json.dumps({"jsonrpc": "2.0", "id": id, "result": result})


def text(said):
    return {"content": [{"type": "text", "text": said}]}


def odd(kind, id):
    """The bytes of an answer."""
    note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
    forms = {
        "half": answer(id, text("a \ud83d b")),
        "nan": answer(id, {"structuredContent": {"x": float("nan")}}),
        "both": json.dumps({"jsonrpc": "2.0", "id": id, "result": text("both"), "error": None}),
        "bare": json.dumps({"id": str(id), "result": text("bare")}),
        "batch": json.dumps([note, json.loads(answer(id, text("batch")))]),
        "picture": answer(id, {"content": [
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "resource", "resource": {"uri": "x://y", "text": "inside"}},
        ]}),
        "error": json.dumps({"jsonrpc": "2.0", "id": id, "error": "out of cheese"}),
        "nothing": json.dumps({"jsonrpc": "2.0", "id": id}),
        "twice": answer(id, text("one"))[:-1] + ', "result": {}}',
        "perhaps": answer(id, {**text("perhaps"), "isError": "true"}),
        "part": answer(id, {**text("part"), "resultType": "partial"}),
    }
    if kind == "latin":
        return answer(id, text("caf?")).encode().replace(b"?", b"\xe9")
    return b"DEBUG: answering\n" + forms[kind].encode()


FORM = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 9, "description": "in cups"},
        "mail": {"type": "string", "format": "email"},
        "with": {"type": "array", "items": {"type": "string", "enum": ["milk", "sugar"]}},
        "kind": {"type": "string", "enum": ["g", "b"], "enumNames": ["green", "black"]},
        "hot": {"type": "boolean"},
        "iced": {"type": "boolean", "default": False},
        "cup": {"type": "string", "enum": ["large", "small"], "default": "small"},
        "spoon": {"type": "string", "enum": ["tin", "silver"], "default": "tin"},
        "note": {"type": "string", "default": "thanks"},
    },
    "required": ["size", "mail"],
}
EXACTING = {
    "type": "object",
    "properties": {
        "part": {"type": "number", "minimum": 0},
        "day": {"type": "string", "format": "date"},
        "at": {"type": "string", "format": "date-time"},
        "site": {"type": "string", "format": "uri"},
        "words": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "minItems": 2, "maxItems": 3},
        "teas": {"type": "array", "maxItems": 2, "items": {"anyOf": [
            {"const": "g", "title": "Green"},
            {"const": "gl", "title": "Green, light"},
            {"const": "b", "title": "Black"},
        ]}},
    },
    "required": ["part", "day", "at", "site", "words", "teas"],
}

for line in sys.stdin:
    message = json.loads(line)
    id, method = message.get("id"), message.get("method")
    if method == "server/discover" and "later" in sys.argv:
        found = {"resultType": "complete", "supportedVersions": ["2031-01-01"], "capabilities": {}}
        say(answer(id, {**found, "ttlMs": 0, "cacheScope": "public"}).encode())
    elif method == "initialize":
        say(answer(id, {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}}).encode())
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"kind": {"type": "string"}}}
        page = {"tools": [{"name": name, "inputSchema": schema} for name in ("say", "form", "exacting")]}
        if "blank" in sys.argv:
            page["tools"].append({"name": "say/a word", "inputSchema": schema})
        if "lines" in sys.argv:
            about = {"type": "string", "description": "one\nerror: forged by a description"}
            properties = {"kind\nerror: forged by a name": about}
            page["tools"].append({"name": "odd", "inputSchema": {"type": "object", "properties": properties}})
        if "circle" in sys.argv:
            page["nextCursor"] = "again"
        if "torn" in sys.argv:
            page["nextCursor"] = "more"
        if "no-list" in sys.argv:
            page = {}
        if "torn" in sys.argv and (message.get("params") or {}).get("cursor"):
            error = {"code": -32603, "message": "page two is broken"}
            say(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode())
        else:
            say(answer(id, page).encode())
    elif method == "tools/call" and message["params"]["name"] in ("form", "exacting"):
        form = FORM if message["params"]["name"] == "form" else EXACTING
        asked = {"message": "Tea.", "requestedSchema": form}
        say(json.dumps({"jsonrpc": "2.0", "id": 99, "method": "elicitation/create", "params": asked}).encode())
        heard = {}
        while heard.get("id") != 99:
            heard = json.loads(sys.stdin.readline())
        say(answer(id, text(json.dumps(heard["result"].get("content"), sort_keys=True))).encode())
    elif method == "tools/call":
        say(odd(message["params"]["arguments"]["kind"], id))
    elif id is not None and "empty" in sys.argv:
        say(answer(id, {}).encode())
    elif id is not None:
        say(json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}}).encode())

if "linger" in sys.argv:
    time.sleep(5)
