"""A server of the Model Context Protocol that wants tokens, and the authorization server that gives them.

`mcp_oauth.py STATE` serves both at a port of 127.0.0.1, which it prints: `/mcp` in the revision of 2026,
and `/token`. It appends what it was asked to the file STATE. A token is good for two calls of tools.
"""

import base64
import http.server
import json
import sys
import urllib.parse

STATE = sys.argv[1]
PASSWORD = "p:ss wörd"
sys.argv = ["web.py", "modern"]

import mcp_server as server  # It reads its mode when it is imported.

given = {"token": None, "calls": 0, "count": 0, "refresh": "refresh-0"}


def note(text):
    with open(STATE, "a") as file:
        file.write(text + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, value, **headers):
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, header in headers.items():
            self.send_header(name.replace("_", "-"), header)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(405, {})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/token":
            return self.token({name: values[0] for name, values in urllib.parse.parse_qs(body.decode()).items()})
        return self.call(json.loads(body))

    def token(self, form):
        kind = form["grant_type"]
        note(f"{kind} {form.get('scope')} {form.get('resource')}")
        if kind == "refresh_token":
            if form["client_id"] != "desk" or form["refresh_token"] != given["refresh"]:
                return self.reply(400, {"error": "invalid_grant", "error_description": "the token was used"})
            given["refresh"] = f"refresh-{given['count'] + 1}"
        else:
            said = self.headers["authorization"].removeprefix("Basic ")
            name, password = map(urllib.parse.unquote_plus, base64.b64decode(said).decode().split(":"))
            if (name, password) != ("desk", PASSWORD):
                return self.reply(401, {"error": "invalid_client"})
        given["count"] += 1
        given["token"], given["calls"] = f"access-token-{given['count']}", 0
        answer = {"access_token": given["token"], "token_type": "bearer", "expires_in": 3600}
        if kind == "refresh_token":
            answer["refresh_token"] = given["refresh"]
        self.reply(200, answer)

    def call(self, message):
        is_call = message["method"] == "tools/call"
        given["calls"] += is_call
        if self.headers.get("authorization") != f"Bearer {given['token']}" or given["calls"] > 2:
            challenge = 'Bearer error="invalid_token", error_description="too old", scope="read", '
            challenge += 'resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource"'
            return self.reply(401, {}, www_authenticate=challenge)
        if is_call and message["params"]["name"] == "fail":
            # A server that tells what it should keep to itself.
            result = server.text(f"you sent {self.headers['authorization']}")
        else:
            result = server.answer(message)
        result.setdefault("resultType", "complete")
        self.reply(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})


web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(web.server_address[1], flush=True)
web.serve_forever()
