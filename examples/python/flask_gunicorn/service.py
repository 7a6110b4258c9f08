import os

from aerolane import DataSet, SyncClient
from aerolane.exceptions import RecordNotFoundError
from flask import Flask, current_app, request

USERS = DataSet.of("test", "users")
client = SyncClient(os.environ.get("AEROSPIKE_HOST", "localhost:3000"))
app = Flask(__name__)


def connect():
    client.connect()
    app.config["SESSION"] = client.create_session()


@app.put("/users/<name>")
def write(name):
    current_app.config["SESSION"].put(USERS.id(name), request.get_json())
    return "", 204


@app.get("/users/<name>")
def read(name):
    return {"pid": os.getpid(), **current_app.config["SESSION"].get(USERS.id(name)).bins}


@app.errorhandler(RecordNotFoundError)
def not_found(error):
    return {"detail": "no such user"}, 404
