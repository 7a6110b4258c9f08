"""The users of a service: each sends an HTTP request, waits for the answer, and sends the next one."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

# How long a user waits for an answer, seconds.
PATIENCE = 10.0

# For each user, whether there is work at this moment.
Working = Callable[[int], bool]


class HttpError(Exception):
    """The answer is none, or says that there is none."""


@dataclass
class Connection:
    """One connection of HTTP/1.1, which is kept."""

    port: int
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str) -> bytes:
        """The body of an answer. Raises `HttpError`, `OSError` or `TimeoutError`."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._get(path)
        except BaseException:
            # What is left of an answer must not become the next one.
            self.close()
            raise

    async def _get(self, path: str) -> bytes:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)
        reader, writer = self._streams
        writer.write(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode("ascii"))
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            status, _, fields = head.partition(b"\r\n")
            lengths = [line[15:] for line in fields.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            if not lengths:
                raise HttpError("an answer without its length")
            body = await reader.readexactly(int(lengths[0]))
        except asyncio.IncompleteReadError:
            raise HttpError("the connection was closed") from None
        except ValueError:
            raise HttpError("an answer that is not HTTP") from None
        if b" 200 " not in status + b" ":
            raise HttpError(f"{status.decode('latin-1')}: {body[:200].decode('utf-8', 'replace')}")
        return body

    def close(self) -> None:
        """Drops the connection; the next request opens another one."""
        if self._streams:
            self._streams[1].close()
            self._streams = None


@dataclass
class Tally:
    """What users have seen."""

    done: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    latencies: list[int] = field(default_factory=list)
    """Nanoseconds, of requests that were answered."""


async def use(port: int, path: str, users: int, until: float, working: Working, tally: Tally) -> None:
    """So many users ask for `path` with a number at its end, one after the other, until `until` (of `perf_counter`)."""
    numbers = iter(range(1 << 62))

    async def user(index: int) -> None:
        connection = Connection(port)
        while time.perf_counter() < until:
            if not working(index):
                await asyncio.sleep(0.02)
                continue
            began = time.perf_counter_ns()
            try:
                await connection.get(f"{path}{next(numbers)}")
            except (HttpError, OSError, TimeoutError) as error:
                tally.failures[f"{type(error).__name__}: {error}"[:200]] += 1
                # As k6 and people do: whoever was refused does not come again at once.
                await asyncio.sleep(0.01)
                continue
            tally.done += 1
            tally.latencies.append(time.perf_counter_ns() - began)
        connection.close()

    await asyncio.gather(*map(user, range(users)))
