import os

from aerolane import DataSet, SyncClient
from celery import Celery
from celery.signals import worker_process_init, worker_process_shutdown

VISITS = DataSet.of("test", "visits")
client = SyncClient(os.environ.get("AEROSPIKE_HOST", "localhost:3000"))
app = Celery("tasks", config_source="celeryconfig")


@worker_process_init.connect
def connect(**_):
    client.connect()


@worker_process_shutdown.connect
def close(**_):
    client.close()


@app.task
def visit(page):
    client.create_session().upsert(VISITS.id(page)).bin("count").add(1).execute()
