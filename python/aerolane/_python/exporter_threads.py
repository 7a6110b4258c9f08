"""Threads that call exporters; run once, when the first exporter is added.

Python's own threads, so that the interpreter can end while one of them runs an exporter: there is no frame of another
language below it.
"""

import asyncio
import threading
import traceback


def start(exports, exporter, turn, event_loop):
    """Has an exporter called on a thread of its own, or by that on its event loop. `turn`: a lock, so that an exporter
    which was added twice is called once at a time."""
    arguments = (exports, exporter, turn, event_loop)
    # A daemon: the interpreter does not wait for it.
    threading.Thread(target=run, args=arguments, name="aerolane-export", daemon=True).start()


def run(exports, exporter, turn, event_loop):
    while (snapshot := exports.next()) is not None:
        try:
            with turn:
                if event_loop is None:
                    exporter.export(snapshot)
                else:
                    on_loop(event_loop, exporter, snapshot)
        except BaseException as error:  # whatever it is, it is no reason to end this thread
            exports.exported(describe(error))
        else:
            exports.exported(None)
        del snapshot


def on_loop(event_loop, exporter, snapshot):
    async def export():
        await exporter.export(snapshot)

    coroutine = export()
    try:
        future = asyncio.run_coroutine_threadsafe(coroutine, event_loop)
    except BaseException:  # the loop is closed
        coroutine.close()
        raise
    future.result()


def describe(error):
    try:
        return "".join(traceback.format_exception(error)).rstrip()
    except BaseException:  # an error that cannot even be printed
        return type(error).__name__
