import multiprocessing
import os

from aerolane import DataSet, SyncClient

NUMBERS = DataSet.of("test", "numbers")
client = SyncClient(os.environ.get("AEROSPIKE_HOST", "localhost:3000"))


def connect():
    client.connect()


def square(number):
    client.create_session().put(NUMBERS.id(number), {"square": number * number})
    return os.getpid()


if __name__ == "__main__":
    with multiprocessing.Pool(4, initializer=connect) as pool:
        pids = pool.map(square, range(1000), chunksize=50)
    print("written by", len(set(pids)), "processes")
