"""Loads a DataFrame of pandas, and reads it with pandas and polars: `python dataframes.py [host:port]`.

Needs `pandas`, `polars` and `pyarrow`. Without an address it starts a cluster in memory.
"""

import contextlib
import sys

import pandas as pd
from aerolane import Behavior, DataSet, SyncClient
from aerolane.policy import Settings
from aerolane.testing import EmbeddedCluster

PLACES = DataSet.of("test", "places")
TIMES = {"founded": "timestamp[us]"}


def main(seeds):
    frame = pd.DataFrame(
        {
            "id": [1, 2, 3],
            "name": ["Oslo", "Rome", "Lima"],
            "height": [23.0, None, 161.0],
            "founded": pd.to_datetime(["1040-01-01", None, "1535-01-18"]).as_unit("us"),
        }
    )
    # The server stores keys as hashes. `send_key` also stores the key itself, so that queries return it.
    keeping_keys = Behavior.DEFAULT.derive_with_changes("keeping keys", writes=Settings(send_key=True))
    with SyncClient(seeds) as client:
        session = client.create_session(keeping_keys)
        summary = session.write_table(frame, PLACES, key="id")
        summary.raise_for_failures()
        print(summary.ok, "rows written")

        everything = session.query(PLACES).execute()
        found = everything.to_arrow(key="id", schema_overrides=TIMES).to_pandas()
        print(found.sort_values("id")[["id", "name", "height"]].to_string(index=False))

        # Some records by their keys, as a DataFrame of polars. A key without a record is a row of nulls.
        some = client.native.batch_read_blocking(PLACES.ids(3, 1, 99), as_arrow=True).to_polars()
        print(some["name"].to_list(), "mean height:", some["height"].mean())


if __name__ == "__main__":
    with contextlib.ExitStack() as stack:
        main(sys.argv[1] if len(sys.argv) > 1 else stack.enter_context(EmbeddedCluster()).seeds)
