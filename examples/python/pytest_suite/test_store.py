"""Tests of `store`, which need no server: each test gets a cluster in memory of its own."""

import pytest

from store import CUSTOMERS, QUICK, Unavailable, count_visit, visits


@pytest.fixture
def session(aerolane_sync_session):
    return aerolane_sync_session.session_for(QUICK)


def test_a_new_customer_has_no_visits(session):
    assert visits(session, "ann") == 0


def test_visits_are_counted(session):
    assert [count_visit(session, "ann") for _ in range(3)] == [1, 2, 3]


@pytest.mark.aerolane_fault("drop-after", on="write", times=1)
def test_a_lost_answer_is_in_doubt(session):
    with pytest.raises(Unavailable) as caught:
        count_visit(session, "ann")
    assert caught.value.may_have_counted
    # It was counted: the cluster executed the write and then dropped the connection.
    assert visits(session, "ann") == 1


@pytest.mark.aerolane_fault("drop-before", on="read", times=1)
def test_a_read_is_repeated(session):
    count_visit(session, "ann")
    assert visits(session, "ann") == 1


def test_a_node_dies(session, aerolane_cluster):
    names = [f"customer {number}" for number in range(50)]
    for name in names:
        count_visit(session, name)
    aerolane_cluster.stop_node(aerolane_cluster.nodes[0])
    # Each record has a copy on another node.
    assert [visits(session, name) for name in names] == [1] * 50


def test_a_stalled_cluster_is_given_up_in_time(session, aerolane_cluster):
    with aerolane_cluster.inject("stall", on="write"), pytest.raises(Unavailable):
        count_visit(session, "ann")


def test_visits_of_long_ago_expire(session, aerolane_cluster):
    session.upsert(CUSTOMERS.id("bob")).put({"visits": 7}).expire_record_after_seconds(3600).execute()
    aerolane_cluster.advance_clock(3601)
    assert visits(session, "bob") == 0
