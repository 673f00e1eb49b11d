"""Keeps what is posted: sink.py FOLDER writes its port to FOLDER/port and each body to a file."""
import gzip
import http.server
import pathlib
import sys

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


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
(folder / "port.new").write_text(str(server.server_address[1]))
(folder / "port.new").rename(folder / "port")
server.serve_forever()
