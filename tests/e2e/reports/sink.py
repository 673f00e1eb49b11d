"""Stores the bodies of POST requests: sink.py FOLDER writes its port to FOLDER/port and each body
to a file."""
import gzip
import http.server
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True
import web  # noqa: E402

folder = pathlib.Path(sys.argv[1])


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        name = self.path.strip("/").split("?")[0].replace("/", "_")
        head = f"{self.path} {self.headers.get('Content-Type')}\n".encode()
        (folder / name).write_bytes(head + body)
        self.send_response(507 if "full" in self.path else 200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args):
        pass


web.serve(folder, Handler)
