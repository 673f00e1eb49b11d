"""An HTTP file server. server.py FOLDER writes its port to FOLDER/port and logs requests to
FOLDER/asked."""
import base64
import hashlib
import http.server
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True
import web  # noqa: E402

folder = pathlib.Path(sys.argv[1])
BODY = {"/sha256": b"one\n", "/md5": b"two\n", "/dated": b"three\n", "/bare": b"four\n", "/no_head": b"five\n",
        "/wrong": b"six\n", "/both": b"seven\n", "/big": b"0123456789abcdef" * 200000, "/user": b"eight\n",
        "/tag_md5": b"nine\n", "/tag_sha1": b"ten\n", "/tag_sha256": b"eleven\n", "/tag_weak": b"twelve\n", "/tag_other": b"13\n"}


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, body):
        with open(folder / "asked", "a") as asked:
            asked.write(f"{self.command} {self.path} {self.headers.get('Range')}\n")
        path = self.path
        if path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/sha256")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        content = BODY.get(path)
        status = 200 if content is not None else 404
        if path == "/no_head" and self.command == "HEAD":
            status = 405
        if path == "/user" and self.headers.get("Authorization") != "Basic " + base64.b64encode(b"u:p").decode():
            status = 401
        if path == "/gone_later" and self.command == "HEAD":
            status = 200
        if status != 200 or content is None:
            content = b"nothing here"
        self.send_response(status)
        if status == 200:
            if path in ("/sha256", "/both", "/wrong", "/big"):
                of = b"other" if path == "/wrong" else content
                self.send_header("X-Checksum-Sha256", hashlib.sha256(of).hexdigest())
            if path in ("/md5", "/both"):
                self.send_header("Content-MD5", base64.b64encode(hashlib.md5(content).digest()).decode())
            tags = {"/tag_md5": hashlib.md5(content).hexdigest(), "/tag_sha1": hashlib.sha1(content).hexdigest().upper(),
                    "/tag_sha256": hashlib.sha256(content).hexdigest(), "/tag_other": "5f3c-62a"}
            if path in tags:
                self.send_header("ETag", '"' + tags[path] + '"')
            if path == "/tag_weak":
                self.send_header("ETag", 'W/"' + hashlib.md5(content).hexdigest() + '"')
            if path in ("/dated", "/no_head", "/user", "/tag_weak", "/tag_other"):
                self.send_header("Last-Modified", "Tue, 01 Nov 2022 10:00:00 GMT")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)

    def do_GET(self):
        self.answer(True)

    def do_HEAD(self):
        self.answer(False)

    def log_message(self, *args):
        pass


web.serve(folder, Handler)
