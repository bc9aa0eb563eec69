"""Workcell from Python: the standard library and nothing else. Ends with 0 when every answer was as expected."""

import json
import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen

BASE = os.environ.get("III_URL", "ws://127.0.0.1:49134").replace("ws", "http", 1)


class Failed(Exception):
    """A call that did not succeed: `code`, and `fix` where one is known."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]
        self.fix = error.get("fix")


def call(function_id, **payload):
    url = f"{BASE}/functions/{function_id.replace('::', '/')}"
    try:
        with urlopen(Request(url, data=json.dumps(payload).encode()), timeout=30) as answer:
            return json.load(answer)
    except HTTPError as failure:
        raise Failed(json.load(failure)["error"]) from None


call("coder::create-file", files=[{"path": "http-python.txt", "content": "b\na\n", "overwrite": True}])
result = call("shell::exec", command="sort", args=["http-python.txt"])
assert result["stdout"] == "a\nb\n", result
print("ok: sorted")

try:
    call("coder::read-file", path="../../etc/passwd")
    raise SystemExit("a path outside the workspace was read")
except Failed as failure:
    assert failure.code == "C215", failure.code
    print("ok: refused with", failure.code)

call("coder::delete-file", paths=["http-python.txt"])
