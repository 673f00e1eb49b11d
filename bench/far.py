"""A TCP proxy that adds network latency."""
import asyncio
import threading


class Far:
    """Each round trip takes `latency` milliseconds, and so does opening a connection."""

    def __init__(self, port, latency):
        self.target, self.latency, self.ready = port, latency, threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True).start()
        self.ready.wait()

    async def serve(self):
        server = await asyncio.start_server(self.connection, "127.0.0.1", 0, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await server.serve_forever()

    async def connection(self, reader, writer):
        there, back = await asyncio.open_connection("127.0.0.1", self.target)
        # Opening a connection costs one additional round trip.
        await asyncio.gather(self.carry(reader, back, 1.5), self.carry(there, writer, 0.5))

    async def carry(self, source, sink, ways):
        loop, queue = asyncio.get_running_loop(), asyncio.Queue()

        async def deliver():
            while True:
                due, data = await queue.get()
                await asyncio.sleep(max(0, due - loop.time()))
                if not data:
                    return sink.close()
                sink.write(data)
                await sink.drain()
        task = loop.create_task(deliver())
        opened = loop.time()
        try:
            while True:
                data = await source.read(1 << 16)
                early = opened + self.latency / 1000 * ways if ways > 1 else 0
                queue.put_nowait((max(early, loop.time() + self.latency / 2000), data))
                if not data:
                    break
        except OSError:
            queue.put_nowait((0, b""))
        try:
            await task
        except OSError:
            pass
