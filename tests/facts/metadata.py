"""The metadata service of a cloud: `metadata.py ADDRESS` returns the texts of standard input, with
one "PATH TEXT" per line."""
import http.server
import sys

texts = {}
for line in sys.stdin:
    path, _, text = line.rstrip("\n").partition(" ")
    texts[path] = text.encode().decode("unicode_escape")


class Service(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = texts.get(self.path)
        # Each cloud requires a header as proof that a request is intentional.
        wanted = {"/computeMetadata": ("Metadata-Flavor", "Google"), "/metadata": ("Metadata", "true"),
                  "/latest": ("X-aws-ec2-metadata-token", "secret")}
        for place, (header, value) in wanted.items():
            if self.path.startswith(place) and self.headers.get(header) != value:
                text = None
        self.answer(text)

    def do_PUT(self):
        self.answer("secret" if self.headers.get("X-aws-ec2-metadata-token-ttl-seconds") else None)

    def answer(self, text):
        self.send_response(404 if text is None else 200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write((text or "").encode())

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer((sys.argv[1], 80), Service)
open(sys.argv[2], "w").close()
server.serve_forever()
