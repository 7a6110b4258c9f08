from contextlib import asynccontextmanager

from aerolane import Client, DataSet
from aerolane.exceptions import (
    AerospikeError,
    ConnectionError,
    MaxErrorRateError,
    PoolExhaustedError,
    RecordNotFoundError,
    TimeoutError,
)
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

USERS = DataSet.of("test", "service_users")


@asynccontextmanager
async def lifespan(app):
    async with Client("localhost:3000") as client:
        app.state.session = client.create_session()
        yield


app = FastAPI(lifespan=lifespan)


@app.exception_handler(RecordNotFoundError)
async def not_found(request: Request, error: RecordNotFoundError):
    return JSONResponse({"detail": "no such user"}, 404)


@app.exception_handler(TimeoutError)
@app.exception_handler(ConnectionError)
@app.exception_handler(MaxErrorRateError)
@app.exception_handler(PoolExhaustedError)
async def overloaded(request: Request, error: Exception):
    # The database is slow or away. Callers may try again, and should not do so at once.
    return JSONResponse({"detail": "try again later"}, 503, {"Retry-After": "1"})


@app.exception_handler(AerospikeError)
async def failed(request: Request, error: AerospikeError):
    # A write that is in doubt may have taken effect.
    return JSONResponse({"detail": "the database failed", "in_doubt": error.in_doubt}, 502)


@app.put("/users/{name}", status_code=204)
async def write(name: str, bins: dict[str, int | str], request: Request):
    await request.app.state.session.put(USERS.id(name), bins)


@app.get("/users/{name}")
async def read(name: str, request: Request):
    return (await request.app.state.session.get(USERS.id(name))).bins


@app.get("/health")
async def health(request: Request):
    await request.app.state.session.exists(USERS.id("health")).execute()
    return {"ok": True}


if __name__ == "__main__":
    from fastapi.testclient import TestClient

    with TestClient(app) as http:
        print(http.put("/users/ann", json={"age": 31}).status_code)
        print(http.get("/users/ann").json())
        print(http.get("/users/bob").status_code, http.get("/health").json())
