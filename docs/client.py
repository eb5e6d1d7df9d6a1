#!/usr/bin/env python3
"""A client of Reasonix in Python's standard library: one prompt, its answer as it comes, questions asked at the terminal.

    reasonix daemon start
    python3 docs/client.py "say hello"

The methods, events and types: reference/protocol.md. The rules behind them: contract/10-protocol.md.
"""
import hashlib
import json
import os
import socket
import sys
import uuid

LONGEST_PATH = 107  # bytes of a socket's path


def socket_path():
    """Where the daemon listens: the same rule for every client."""
    if os.environ.get("REASONIX_SOCKET"):
        return os.environ["REASONIX_SOCKET"]
    home = os.environ.get("REASONIX_HOME") or os.path.join(os.environ["HOME"], ".reasonix")
    path = os.path.join(home, "run", "reasonixd.sock")
    if len(os.fsencode(path)) <= LONGEST_PATH:
        return path
    name = hashlib.sha256(os.fsencode(home)).hexdigest()[:16] + ".sock"
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    place = os.path.join(runtime, "reasonix") if runtime else f"/tmp/reasonix-{os.getuid()}"
    return os.path.join(place, name)


class Connection:
    """Calls go out, answers and events come in, each on a line of its own."""

    def __init__(self, path):
        stream = socket.socket(socket.AF_UNIX)
        try:
            stream.connect(path)
        except OSError as error:
            raise SystemExit(f"no daemon at {path} ({error}): run `reasonix daemon start`")
        self.incoming = stream.makefile("r", encoding="utf-8", newline="\n")
        self.outgoing = stream.makefile("w", encoding="utf-8", newline="\n")
        self.calls = 0
        self.events = []
        me = {"name": "client.py", "version": "1", "kind": "script", "pid": os.getpid(),
              "interactive": sys.stdin.isatty()}
        # Protocol versions that this client speaks: oldest and newest.
        self.hello = self.call("daemon.hello", client=me, protocol=[1, 1], role="drive")

    def call(self, method, **params):
        """The answer of a method. Events that come before it are kept."""
        self.calls += 1
        frame = {"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}
        self.outgoing.write(json.dumps(frame) + "\n")
        self.outgoing.flush()
        while True:
            frame = self.receive()
            if frame.get("id") != self.calls:
                self.events.append(frame)
            elif "error" in frame:
                error = frame["error"]
                raise SystemExit(f"{method}: {error['message']} {error['data']['hint']}")
            else:
                return frame.get("result")

    def receive(self):
        line = self.incoming.readline()
        if not line:
            raise SystemExit("the daemon closed the connection")
        return json.loads(line)

    def follow(self):
        """Events one after another, until the subscription ends."""
        while True:
            frame = self.events.pop(0) if self.events else self.receive()
            if frame.get("method") == "event.ended":
                return
            if frame.get("method") == "event":
                yield frame["params"]["event"]


def answer_question(daemon, opened):
    """Shows what a call would do, and answers for it. `shown_hash` says what the user has seen."""
    request = opened["request"]
    if request["type"] != "approval":
        print(f"\n[a {request['type']} waits: answer it with `reasonix inbox`]")
        return
    print(f"\n{request['tool']}: {request['subject']}\nallow it once? [y/N] ", end="", flush=True)
    decision = "allow_once" if sys.stdin.readline().strip() == "y" else "deny"
    daemon.call("interaction.answer", interaction_id=opened["interaction_id"],
                shown_hash=opened["shown_hash"], answer={"type": "approval", "decision": decision})


def main(prompt):
    daemon = Connection(socket_path())
    keys = {name: os.environ[name] for name in daemon.hello["key_variables"] if name in os.environ}
    session = str(uuid.uuid4())
    daemon.call("session.create", session=session, cwd=os.getcwd(), credentials=keys,
                env={"PATH": os.environ["PATH"]})
    # Before the prompt: what is streamed before a client attaches comes only whole, in `message.assistant`.
    daemon.call("session.attach", session=session, subscription="mine", after_seq=0, ephemeral=True)
    daemon.call("session.prompt", session=session, text=prompt)
    for event in daemon.follow():
        kind, data = event["kind"], event["data"]
        if kind == "delta.text":
            print(data["text"], end="", flush=True)
        elif kind == "tool.started":
            print(f"\n[{data['tool']}]", flush=True)
        elif kind == "interaction.opened":
            answer_question(daemon, data)
        elif kind == "turn.ended":
            print(f"\n[{data['outcome']}]")
            return 0 if data["outcome"] == "completed" else 1
    return 1


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:]) or "Say hello."))
