"""Shared by the web servers of the end-to-end tests."""
import http.server
import pathlib


def serve(folder, handler):
    """Serves forever on a free port of 127.0.0.1. Writes the port to FOLDER/port once it
    listens."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    new = pathlib.Path(folder) / "port.new"
    new.write_text(str(server.server_address[1]))
    new.rename(new.with_name("port"))
    server.serve_forever()
