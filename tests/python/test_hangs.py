"""A test that hangs ends its run, and is named."""

import subprocess
import sys
from pathlib import Path

import pytest

RUN = """
import sys
import hangs, pytest
hangs.LIMIT = {limit}
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "test_it.py"], plugins=[hangs.Watchdog()]))
"""


@pytest.mark.parametrize(("limit", "code"), [(1.0, 3), (100.0, 0)])
def test_a_test_that_hangs_ends_the_run_and_is_named(tmp_path, limit, code):
    (tmp_path / "test_it.py").write_text("import time\n\n\ndef test_slow():\n    time.sleep(4)\n")
    run = subprocess.run(
        [sys.executable, "-c", RUN.format(limit=limit)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == code, run.stdout + run.stderr
    if code:
        assert run.stderr.endswith("test_it.py::test_slow hangs: 1 s\n")
        assert "test_it.py:5 test_slow: time.sleep(4)" in run.stderr
