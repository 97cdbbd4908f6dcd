"""A server of the Model Context Protocol for tests: the standard library only, faults included.

`mcp_server.py MODE` speaks on its standard streams. Each mode is a behaviour: `plain` speaks the
revision of 2025 with a handshake, `modern` that of 2026 without one, `tasks` the same with tasks,
`older-tasks` that of 2025 with its tasks, the others have one fault each.
"""

import json
import os
import sys
import time

MODE = sys.argv[1]
MODERN = MODE in ("modern", "tasks")
STATE = sys.argv[2] if len(sys.argv) > 2 else None


def tool(name, description, schema=None, **annotations):
    return {
        "name": name,
        "description": description,
        "inputSchema": schema or {"type": "object"},
        "annotations": annotations,
    }


TEXT = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}
TOOLS = [
    tool("echo", "Says it again.", TEXT, readOnlyHint=True),
    tool("add", "Adds.", {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}),
    tool("fail", "Fails."),
    tool("crash", "Ends the server."),
    tool("ask", "Asks the person for a name."),
    tool("slow", "Makes progress and waits."),
    tool("big", "Says too much."),
    tool("count", "Counts the calls, in a file.", readOnlyHint=True),
    tool("grow", "Adds the tool `new`."),
    tool("a/b", "Has a slash in its name."),
]
OLDER_TASKS = MODE == "older-tasks"
if MODE == "tasks" or OLDER_TASKS:
    TOOLS.append(tool("long", "Makes a task of each call."))
if OLDER_TASKS:
    TOOLS[-1]["execution"] = {"taskSupport": "required"}
    TOOLS[0]["execution"] = {"taskSupport": "forbidden"}


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def note(text):
    """Appends a line to the file that the test reads."""
    if STATE:
        with open(STATE, "a") as file:
            file.write(text + "\n")


waiting = []


def hear():
    line = waiting.pop(0) if waiting else sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def tools():
    if MODE == "duplicates":
        return TOOLS[:1] + [tool("echo", "Another one.")]
    if MODE == "schemas":
        wrong = [{"type": "strin"}, "no object", {"type": "object", "properties": {"a": {"pattern": "("}}}]
        return [dict(TOOLS[0], name=f"echo{i}", inputSchema=schema) for i, schema in enumerate(wrong)] + TOOLS[:1]
    if MODE == "long-pattern":
        schema = {"type": "object", "properties": {"text": {"pattern": "^a{1,2000}$"}}}
        return [dict(TOOLS[0], inputSchema=schema)]
    if MODE == "doubling":
        defs = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(12)}
        schema = {"type": "object", "$defs": {**defs, "d12": {"type": "string"}}, "properties": {"text": {"$ref": "#/$defs/d0"}}}
        return [dict(TOOLS[0], inputSchema=schema)]
    if MODE == "names":
        return [{"description": "no name"}, tool("mcp:read", "Ours."), tool("", "Empty.")] + TOOLS[:1]
    return TOOLS


def tasks(change=None):
    """The tasks by their ids; they outlive this process."""
    path = STATE + ".tasks"
    known = json.load(open(path)) if os.path.exists(path) else {}
    if change:
        known.update(change)
        with open(path + ".new", "w") as file:
            json.dump(known, file)
        os.replace(path + ".new", path)
    return known


def standing(name, status, **more):
    return {"taskId": name, "status": status, "createdAt": "2026-07-28T10:00:00Z",
            "lastUpdatedAt": "2026-07-28T10:00:00Z", "ttlMs": None, "pollIntervalMs": 60, **more}


def begin_task(params):
    capabilities = params["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    assert "io.modelcontextprotocol/tasks" in capabilities["extensions"]
    name = f"task-{len(tasks()) + 1}"
    tasks({name: {"polls": 0, "given": params.get("arguments") or {}, "answers": {}}})
    return standing(name, "working", resultType="task", statusMessage="begun")


def task(method, params):
    name = params["taskId"]
    note(f"{method} {name}")
    if name not in tasks():
        raise LookupError("task")
    it = tasks()[name]
    given = it["given"]
    if method == "tasks/update":
        it["answers"].update(params["inputResponses"])
        it["answered_at"] = it["polls"]
        tasks({name: it})
        return {}
    if method == "tasks/cancel":
        return {}
    it["polls"] += 1
    tasks({name: it})
    if given.get("crash") == it["polls"]:
        os._exit(9)
    if given.get("says"):
        return standing(name, given["says"], **given.get("more", {}))
    if given.get("ask") and it["polls"] >= 2:
        # The acknowledged answer shows only two polls later.
        if not it["answers"] or it["polls"] < it["answered_at"] + 2:
            question = {"mode": "form", "message": "Who are you?", "requestedSchema": FORM}
            asked = {"who": {"method": "elicitation/create", "params": question}}
            return standing(name, "input_required", inputRequests=asked)
        return standing(name, "completed", result=text("hello " + it["answers"]["who"]["content"]["name"]))
    if it["polls"] < given.get("polls", 3):
        return standing(name, "working", statusMessage=f"step {it['polls']}")
    if given.get("fail"):
        return standing(name, "completed", result=text("the disk is full", isError=True))
    return standing(name, "completed", result=text("done at last"))


def older_standing(name, status, **more):
    return {"taskId": name, "status": status, "createdAt": "2025-11-25T10:00:00Z",
            "lastUpdatedAt": "2025-11-25T10:00:00Z", "ttl": None, "pollInterval": 60, **more}


def begin_older_task(params):
    if "task" not in params:
        raise LookupError("a call that is no task")
    name = f"task-{len(tasks()) + 1}"
    tasks({name: {"polls": 0, "given": params.get("arguments") or {}}})
    return {"task": older_standing(name, "working", statusMessage="begun")}


def older_task(message):
    """Tasks as in the revision of 2025: the state alone, and the result and questions by a request."""
    method, name = message["method"], message["params"]["taskId"]
    note(f"{method} {name}")
    if name not in tasks():
        raise LookupError("task")
    it = tasks()[name]
    given = it["given"]
    if method == "tasks/cancel":
        return older_standing(name, "cancelled")
    if method == "tasks/result":
        related = {"_meta": {"io.modelcontextprotocol/related-task": {"taskId": name}}}
        if given.get("fail"):
            return text("the disk is full", isError=True, **related)
        if given.get("refuse"):
            raise RuntimeError("the quota")
        if not given.get("ask"):
            return text("done at last", **related)
        question = {"mode": "form", "message": "Who are you?", "requestedSchema": FORM, **related}
        say({"id": "q-" + name, "method": "elicitation/create", "params": question})
        while True:
            # Other requests wait.
            line = sys.stdin.readline()
            if not line:
                sys.exit(0)
            if json.loads(line).get("id") == "q-" + name:
                break
            waiting.append(line)
        return text("hello " + json.loads(line)["result"]["content"]["name"], **related)
    it["polls"] += 1
    tasks({name: it})
    if given.get("crash") == it["polls"]:
        os._exit(9)
    if given.get("says"):
        return older_standing(name, given["says"], **given.get("more", {}))
    if it["polls"] < given.get("polls", 3):
        return older_standing(name, "working", statusMessage=f"step {it['polls']}")
    if given.get("ask"):
        return older_standing(name, "input_required")
    return older_standing(name, "failed" if given.get("fail") or given.get("refuse") else "completed")


FORM = {"type": "object", "properties": {"name": {"type": "string", "title": "Your name"}}, "required": ["name"]}


def call(message):
    params = message["params"]
    name, given = params["name"], params.get("arguments") or {}
    note(f"call {name}")
    if name.startswith("echo") or name in ("new", "a/b"):
        return text("you said " + given.get("text", "nothing"))
    if name == "long":
        return begin_older_task(params) if OLDER_TASKS else begin_task(params)
    if name == "add":
        total = given["a"] + given["b"]
        return text(str(total), structuredContent={"total": total, "half": 0.5})
    if name == "fail":
        return text("the disk is full", isError=True)
    if name == "crash":
        sys.stderr.write("out of paper\n")
        sys.exit(7)
    if name == "ask":
        question = {"mode": "form", "message": "Who are you?", "requestedSchema": FORM}
        if MODERN:
            if "inputResponses" not in params:
                asked = {"who": {"method": "elicitation/create", "params": question}}
                return {"resultType": "input_required", "inputRequests": asked, "requestState": "s1"}
            assert params["requestState"] == "s1"
            answer = params["inputResponses"]["who"]
        else:
            say({"id": "q1", "method": "elicitation/create", "params": question})
            while True:
                answer = hear()
                if answer.get("id") == "q1":
                    answer = answer["result"]
                    break
        if answer["action"] != "accept":
            return text("nobody")
        return text("hello " + answer["content"]["name"])
    if name == "slow":
        token = params.get("_meta", {}).get("progressToken")
        for step in range(3):
            say({"method": "notifications/progress",
                 "params": {"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"}})
            time.sleep(0.2)
        if given.get("forever"):
            while True:
                heard = hear()
                note(heard.get("method", "answer"))
        return text("done")
    if name == "big":
        if MODE == "gigabyte":
            for _ in range(1024):
                sys.stdout.write("x" * (1 << 20))
            sys.stdout.write("\n")
        return text("x" * (17 << 20))
    if name == "count":
        return text("counted")
    if name == "grow":
        TOOLS.append(tool("new", "New."))
        say({"method": "notifications/tools/list_changed"})
        return text("grown")
    raise LookupError(name)


def answer(message):
    method, params = message["method"], message.get("params") or {}
    if method == "server/discover" and MODERN:
        extensions = {"io.modelcontextprotocol/tasks": {}} if MODE == "tasks" else {}
        capabilities = {"tools": {}, "resources": {}, "prompts": {}, "extensions": extensions}
        return {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, "serverInfo": {"name": "test", "version": "1"}, "ttlMs": 0, "cacheScope": "private"}
    if method == "initialize" and not MODERN:
        note("initialize " + params["protocolVersion"])
        offers = {"tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}} if OLDER_TASKS else {}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}, "prompts": {}, **offers},
                "serverInfo": {"name": "test", "version": "1"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        # Two pages.
        start = int(params.get("cursor", 0))
        page = tools()[start:start + 6]
        more = {"nextCursor": str(start + 6)} if start + 6 < len(tools()) else {}
        return {"tools": page, **more}
    if method == "tools/call":
        return call(message)
    if method.startswith("tasks/") and MODE == "tasks":
        return task(method, params)
    if method.startswith("tasks/") and OLDER_TASKS:
        return older_task(message)
    if method == "resources/list":
        return {"resources": [{"uri": "note://1", "name": "one", "mimeType": "text/plain"}]}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": "the first note"}]}
    if method == "prompts/list":
        return {"prompts": [{"name": "greet", "arguments": [{"name": "who", "required": True}]}]}
    if method == "prompts/get":
        words = "Greet " + params["arguments"]["who"] + "."
        return {"messages": [{"role": "user", "content": {"type": "text", "text": words}}]}
    raise LookupError(method)


def main():
    note("start")
    if MODE == "hang":
        time.sleep(3600)
    if MODE == "garbage":
        print("Listening on standard input ...")
        print("{not json")
        sys.stdout.flush()
    if MODE == "dies":
        sys.stderr.write("no licence\n")
        sys.exit(3)
    while True:
        message = hear()
        if MODE == "strict" and message["method"] == "server/discover":
            sys.exit(4)
        if "id" not in message:
            note(message["method"])
            continue
        try:
            result = answer(message)
        except LookupError as unknown:
            code = -32602 if message["method"].startswith(("tools/call", "tasks/")) else -32601
            say({"id": message["id"], "error": {"code": code, "message": f"Unknown: {unknown}"}})
            continue
        except RuntimeError as fault:
            say({"id": message["id"], "error": {"code": -32603, "message": str(fault)}})
            continue
        if MODERN:
            assert message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
            result.setdefault("resultType", "complete")
        say({"id": message["id"], "result": result})


if __name__ == "__main__":
    main()
