#!/bin/sh
# Workcell from a shell script: curl and nothing else. Ends with 0 when every answer was as expected.
set -eu

url="${III_URL:-ws://127.0.0.1:49134}"
base="http${url#ws}/functions"

call() { # call worker/function '{"json": "request"}'
  curl -sS --max-time 30 "$base/$1" -d "$2"
}

expect() { # expect text, in standard input
  answer="$(cat)"
  case "$answer" in
    *"$1"*) echo "ok: $1" ;;
    *) echo "expected $1 in: $answer" >&2; exit 1 ;;
  esac
}

call coder/create-file '{"files": [{"path": "http-shell.txt", "content": "one\ntwo\n", "overwrite": true}]}' | expect '"success":true'
call coder/search '{"query": "two"}' | expect '"line":2'
call shell/exec '{"command": "wc", "args": ["-l", "http-shell.txt"]}' | expect '2 http-shell.txt'
call coder/read-file '{"path": "../../etc/passwd"}' | expect '"code":"C215"'
call coder/delete-file '{"paths": ["http-shell.txt"]}' | expect '"success":true'
