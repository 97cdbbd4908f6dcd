"""The server of `mcp_server.py` over streamable HTTP, in the revision of 2025: sessions and streams.

`mcp_web.py [MODE STATE]` serves at a port of 127.0.0.1, which it prints. It wants the token
`open-sesame`, answers calls with streams of events, and everything else with JSON. Its tool `refuse`
answers with the status and the id that its arguments name, or with no id.
"""

import http.server
import json
import sys

sys.argv = ["web.py", *(sys.argv[1:] or ["plain"])]

import mcp_server as server  # It reads its mode when it is imported.


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        self.reply(200)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        shown = self.headers.get("authorization") == "Bearer open-sesame"
        if not shown and (self.headers.get("x-api-key"), self.headers.get("x-desk")) != ("open-sesame", "north"):
            return self.reply(401)
        message = json.loads(body)
        if "id" not in message:
            return self.reply(202)
        if message["method"] == "server/discover":
            return self.reply(400, b"no session", content_type="text/plain")
        if message["method"] == "tools/call" and message["params"]["name"] == "refuse":
            given = message["params"]["arguments"]
            error = {"code": -32000, "message": "No valid session ID"}
            ids = {} if given["id"] == "missing" else {"id": given["id"]}
            said = json.dumps({"jsonrpc": "2.0", **ids, "error": error})
            return self.reply(given["status"], said.encode(), content_type="application/json")
        try:
            answer = {"result": server.answer(message)}
        except LookupError as unknown:
            answer = {"error": {"code": -32602, "message": f"Unknown: {unknown}"}}
        said = json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer})
        if message["method"] not in ("tools/call", "tasks/get"):
            session = {"mcp_session_id": "s1"} if message["method"] == "initialize" else {}
            return self.reply(200, said.encode(), content_type="application/json", **session)
        assert self.headers["mcp-session-id"] == "s1"
        stream = f": a comment\n\nevent: message\ndata: {said}\n\n"
        self.reply(200, stream.encode(), content_type="text/event-stream; charset=utf-8")


web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(web.server_address[1], flush=True)
web.serve_forever()
