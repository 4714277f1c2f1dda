"""A local server that answers chat completions, for tests of what asks a language model."""

import http.server
import json
import threading
from contextlib import contextmanager

import pytest

from mtgender.producers import judge


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers with `replies` in turn (an integer is an HTTP status), then with `default` of the prompt; `seen` holds what was asked."""

    replies: list = []
    seen: list = []
    whole = False                       # `default` gets all messages of the conversation, not the text of the first

    @staticmethod
    def default(prompt):
        return ""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append(body)
        reply = self.replies.pop(0) if self.replies else self.default(
            body["messages"] if self.whole else body["messages"][0]["content"])
        status, content = (reply, b"{}") if isinstance(reply, int) else (200, json.dumps({
            "id": "1", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply}}]}).encode())
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


@contextmanager
def running(monkeypatch, tmp_path, default, whole=False):
    """Serve on a free port, the environment pointing there, replies kept under `tmp_path`; gives the handler class."""
    pytest.importorskip("openai", reason="openai is not installed here (extra llm-judge, ./run_tests.sh --all)")
    handler = type("OwnHandler", (Handler,), {"replies": [], "seen": [], "default": staticmethod(default), "whole": whole})
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    monkeypatch.setenv("MTGENDER_LLM_BASE_URL", f"http://127.0.0.1:{httpd.server_port}/v1")
    monkeypatch.setenv("MTGENDER_LLM_MODEL", "tiny")
    monkeypatch.setenv("MTGENDER_LLM_API_KEY", "sk-secret")
    monkeypatch.setattr(judge, "CACHE", tmp_path / "replies")
    monkeypatch.setattr(judge, "CONCURRENT", 1)
    try:
        yield handler
    finally:
        httpd.shutdown()
        httpd.server_close()
