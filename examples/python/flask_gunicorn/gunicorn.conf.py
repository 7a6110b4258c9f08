preload_app = True
worker_class = "gthread"
workers = 2
threads = 8


def post_fork(server, worker):
    from service import connect

    connect()


def worker_exit(server, worker):
    from service import client

    client.close()
