#!/usr/bin/env bash
# DBOS 3.4.0 (Python): a workflow that failed because a child workflow failed cannot be resumed.
#
# A workflow starts three children and awaits their results; the third raises, so the workflow ends
# in the state ERROR. Once the cause is mended one expects `resume_workflow`, which continues a
# workflow from its last finished step, or `fork_workflow` at the step that raised, to call the third
# child again. But the start of the child and its failure are steps that finished: both raise the old
# error at once, and no child runs. Only a fork at or before the step that *started* the child helps,
# and starts each later child anew, too.
#
# Executions of the three parts after the cause was mended, and the outcome:
#
#   resume_workflow                        0 0 0 error
#   fork at the result of the third child  0 0 0 error
#   fork at the start of the third child   0 0 1 ok
#
# Needs Python 3 with venv and the network: dbos 3.4.0 from PyPI, in a temporary folder, with SQLite
# as its database. Exits with 0 if the outcomes are those above.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check dbos==3.4.0
cat >"$folder/count.py" <<'PROGRAM'
import sys

from dbos import DBOS, SetWorkflowID

executed = []
mended = []
DBOS(config={"name": "parts", "system_database_url": f"sqlite:///{sys.argv[1]}/dbos.sqlite", "log_level": "CRITICAL"})


@DBOS.step()
def work(item):
    executed.append(item)
    if item == 3 and not mended:
        raise RuntimeError("broken")
    return item


@DBOS.workflow()
def part(item):
    return work(item)


@DBOS.workflow()
def whole():
    parts = [DBOS.start_workflow(part, item) for item in (1, 2, 3)]
    return [one.get_result() for one in parts]


def outcome(way, begin):
    executed.clear()
    try:
        begin().get_result()
        end = "ok"
    except RuntimeError:
        end = "error"
    print(way, *(executed.count(item) for item in (1, 2, 3)), end)


DBOS.launch()
with SetWorkflowID("whole"):
    first = DBOS.start_workflow(whole)
try:
    first.get_result()
except RuntimeError:
    mended.append(True)
steps = DBOS.list_workflow_steps("whole")
start, result = (step["function_id"] for step in steps if step["child_workflow_id"] == steps[2]["child_workflow_id"])
outcome("resume", lambda: DBOS.resume_workflow("whole"))
outcome("result", lambda: DBOS.fork_workflow("whole", result))
outcome("start", lambda: DBOS.fork_workflow("whole", start))
DBOS.destroy()
PROGRAM
seen=$("$folder/venv/bin/python" "$folder/count.py" "$folder" 2>/dev/null)
echo "$seen"
[ "$seen" = $'resume 0 0 0 error\nresult 0 0 0 error\nstart 0 0 1 ok' ]
