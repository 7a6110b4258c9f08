"""Seeds for a fuzz target, from the golden exchanges: fuzz_seeds.py <crate>/<target> <directory>."""

import gzip
import json
import pathlib
import sys

GOLDEN = pathlib.Path(__file__).parent.parent / "tests" / "golden"
# Larger ones only slow the fuzzer down.
LARGEST = 4096
MOST = 3000


def exchanges():
    """Group, request and answer of every exchange."""
    for path in sorted(GOLDEN.glob("*.jsonl*")):
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as lines:
            for line in map(json.loads, lines):
                group = line["scenario"].split("/")[0]
                yield group, bytes.fromhex(line["request"]), bytes.fromhex(line.get("response") or "")


def frames(data):
    """Type and body of the whole frames at the front."""
    while len(data) >= 8:
        size = int.from_bytes(data[2:8])
        if len(data) < 8 + size:
            return
        yield data[1], data[8 : 8 + size]
        data = data[8 + size :]


def items(body):
    """Type and value of the fields, and particle type and value of the operations, of the message at the front."""
    if len(body) < 22:
        return
    at, counts = 22, (int.from_bytes(body[18:20]), int.from_bytes(body[20:22]))
    for kind, count in zip("fo", counts, strict=True):
        for _ in range(count):
            size = int.from_bytes(body[at : at + 4])
            item = body[at + 4 : at + 4 + size]
            at += 4 + size
            if kind == "f" and item:
                yield "field", item[0], item[1:]
            elif kind == "o" and len(item) >= 4:
                yield "op", item[1], item[4 + item[3] :]


# What a target takes: bodies of frames of this type ...
BODIES = {"wire/info": 1, "wire/admin": 2, "wire/message": 3, "core-ext/answer": 3}
# ... or fields of these types, and values of operations with these particle types.
ITEMS = {
    "wire/msgpack": {("field", 43), ("op", 19), ("op", 20)},
    "wire/batch": {("field", 41)},
    "wire/context": {("field", 23)},
}


def seeds(target):
    """The inputs that a target takes. Numbers come last: fuzzers cut them off the end."""
    if target == "ael/text":
        texts = pathlib.Path(__file__).parent / "ael" / "tests" / "texts.txt"
        yield from (bytes([count]) + line.encode() for line in texts.read_text().splitlines() for count in range(4))
        return
    if target == "config/file":
        yield (pathlib.Path(__file__).parent / "config" / "tests" / "whole.yaml").read_bytes()
        return
    if target == "embedded/control":
        shown = (pathlib.Path(__file__).parents[1] / "docs" / "testing.md").read_text().splitlines()
        requests = [line[2:].encode() for line in shown if line.startswith("> {")]
        yield from (*requests, b"\n".join(requests))
        return
    for group, request, answer in exchanges():
        if target == "wire/frame":
            yield from (request + b"\x0f", answer + b"\x0f")
        if target == "core-ext/batch_answer" and group == "batch":
            yield answer + b"\xff"
        if target == "core-ext/replicas" and group == "info":
            yield from (line[9:] for line in answer[8:].split(b"\n") if line.startswith(b"replicas\t"))
        for kind, body in frames(request):
            if target == "embedded/request":
                yield body + bytes([{1: 0, 2: 16}.get(kind, 255)])
        for kind, body in [*frames(answer), *([] if target.startswith("core-ext") else frames(request))]:
            if BODIES.get(target) == kind:
                yield body
            for what, number, value in items(body) if kind == 3 else ():
                if (what, number) in ITEMS.get(target, ()):
                    yield value
                if target == "wire/particle" and what == "op":
                    yield bytes([number]) + value
                # The context of an operation, and the operation behind it.
                if target == "wire/context" and what == "op" and value[:3] == b"\x93\xcc\xff":
                    yield value[3:]


def main(target, directory):
    """Writes the seeds."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    largest = 16384 if target.endswith("replicas") else LARGEST
    found = list(dict.fromkeys(seed for seed in seeds(target) if len(seed) <= largest))
    for number, seed in enumerate(found[:: max(1, len(found) // MOST)]):
        (directory / f"golden-{number}").write_bytes(seed)


if __name__ == "__main__":
    main(*sys.argv[1:])
