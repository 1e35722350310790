"""The tabs of the page: what one sees, how it finds its session again, and how many there may be."""

import threading

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from orkeon_transitions.explorer.messages import LARGEST
from orkeon_transitions.explorer.server import REFUSED, application
from tests.explorer.conftest import HOST, ORIGIN, TOKEN, opened


class TestATab:
    def test_it_is_told_everything_and_then_what_changes(self, client, sessions):
        with opened(client) as page:
            assert page.traits() == sessions.made[0].view()
            page.ask(do="fire", trigger="begin", context={})
            assert page.traits() == {"now": {"state": "begin"}}
            sessions.made[0].change(gauges=[1], position={"at": 1})
            assert page.traits() == {"gauges": [1], "position": {"at": 1}}
        assert sessions.made[0].asked == [{"do": "fire", "trigger": "begin", "context": {}}]

    def test_it_gets_its_answers(self, client):
        with opened(client) as page:
            page.traits()
            page.ask(do="dance")
            assert page.answer() == {"error": "no 'dance'"}

    def test_it_outlives_whatever_its_session_raises(self, client, caplog):
        with opened(client) as page:
            page.traits()
            page.ask(do="raise")
            assert page.answer() == {"error": "that failed: ZeroDivisionError: by nobody"}
            page.ask(do="dance")
            assert page.answer() == {"error": "no 'dance'"}
        assert "failed on 'raise'" in caplog.text

    @pytest.mark.parametrize(
        "text",
        [
            "", "fire", "[]", "1", "null", '{"trigger": "x"}', '{"do": 1}', '{"do": ["fire"]}',
            '{"do": "fire"', '{"do": "set", "value": NaN}', '{"do": "set", "value": "\\ud800"}',
            '{"do": "x", "x": ' + "[" * 5000, '{"do": "' + "x" * LARGEST + '"}',
        ],
    )  # fmt: skip
    def test_what_is_no_message_changes_nothing(self, client, sessions, text):
        with opened(client) as page:
            page.traits()
            page.socket.send_text(text)
            assert "a message" in page.answer()["error"]
            page.socket.send_bytes(b'{"do": "fire", "trigger": "x"}')
            assert page.answer() == {"error": "a message is a text"}
            assert sessions.made[0].asked == []

    def test_what_json_does_not_know_reaches_the_page_all_the_same(self, client, sessions):
        sessions.traits = {"odd": [float("nan"), float("inf"), {1}, b"\xff", "\ud800", object]}
        with opened(client) as page:
            odd = page.traits()["odd"]
        assert len(odd) == 6
        assert odd[4] == "\ud800"

    def test_two_do_not_see_each_other(self, client, sessions):
        with opened(client) as one, opened(client, tab="tab-number-two", page="p2") as two:
            assert one.traits()
            assert two.traits()
            one.ask(do="fire", trigger="begin")
            assert one.traits() == {"now": {"state": "begin"}}
            two.ask(do="dance")
            assert two.next() == {"answer": {"error": "no 'dance'"}}
        assert len(sessions.made) == 2

    def test_it_finds_its_session_when_it_comes_back(self, client, sessions, clock):
        with opened(client) as page:
            page.traits()
            page.ask(do="fire", trigger="begin")
            page.traits()
        clock.now += 299
        with opened(client) as page:
            assert page.traits()["now"] == {"state": "begin"}
        assert len(sessions.made) == 1
        assert not sessions.made[0].is_closed

    def test_its_session_is_closed_after_some_minutes(self, client, sessions, clock):
        with opened(client) as page:
            page.traits()
        clock.now += 301
        with opened(client) as page:
            assert "now" not in page.traits()
        assert len(sessions.made) == 2
        assert sessions.made[0].is_closed

    def test_one_that_is_connected_is_never_idle(self, client, sessions, clock):
        with opened(client) as page:
            page.traits()
            clock.now += 10_000
            with opened(client, tab="tab-number-two", page="p2") as other:
                other.traits()
            page.ask(do="dance")
            page.answer()
        assert not sessions.made[0].is_closed

    def test_a_duplicate_gets_a_session_of_its_own(self, client, sessions):
        with opened(client) as one, opened(client, page="p2") as two:
            assert two.tab != one.tab == "tab-number-one"
            assert one.traits()
            assert two.traits()
            assert len(sessions.made) == 2
        with opened(client, tab=two.tab, page="p2") as again:
            assert again.tab == two.tab
        assert len(sessions.made) == 2

    def test_a_page_that_is_loaded_again_waits_for_the_one_that_it_was(self, client, sessions):
        with opened(client) as page:
            page.traits()
            leaving = threading.Timer(0.1, page.socket.close)
            leaving.start()
            with opened(client, page="p2") as again:
                assert again.tab == page.tab
                again.traits()
            leaving.join()
        assert len(sessions.made) == 1

    def test_a_connection_that_is_made_again_takes_the_place_of_the_one_before(self, client, sessions):
        with opened(client) as page:
            page.traits()
            with opened(client) as again:
                assert again.tab == page.tab
                with pytest.raises(WebSocketDisconnect):
                    page.next()
                again.traits()
                again.ask(do="fire", trigger="begin")
                assert again.traits() == {"now": {"state": "begin"}}
                assert sessions.made[0].listeners == 1
        assert len(sessions.made) == 1
        assert sessions.made[0].listeners == 0

    @pytest.mark.parametrize(
        "name", ["", "short", "x" * 65, "no%20blanks", "n%C3%B6-umlauts", "a/../../b-c-d"]
    )
    def test_a_name_that_is_none_is_replaced(self, client, name):
        with opened(client, tab=name) as page:
            assert len(page.tab) == 22

    def test_file_with_problems_is_read_again_when_the_page_is_loaded_again(self, client, sessions):
        sessions.traits = {"page": "problems", "problems": [{"message": "odd"}]}
        with opened(client) as page:
            assert page.traits()["page"] == "problems"
        with opened(client) as page:  # the same page, connected again
            assert page.traits()["page"] == "problems"
        with opened(client, page="p2") as page:
            assert page.traits()["page"] == "machine"
        assert sessions.made[0].asked == [{"do": "reload"}]

    def test_a_machine_is_not_begun_anew_when_the_page_is_loaded_again(self, client, sessions):
        for page in ("p1", "p2"):
            with opened(client, page=page) as connected:
                connected.traits()
        assert sessions.made[0].asked == []


class TestHowMany:
    def test_there_are_only_so_many_at_once(self, serve, sessions):
        client = serve(most_tabs=2)
        with opened(client, tab="tab-number-one"), opened(client, tab="tab-number-two"):
            address = f"/socket?token={TOKEN}&tab=tab-number-three&page=p"
            with client.websocket_connect(address, headers=ORIGIN) as third:
                assert "Too many tabs" in third.receive_json()["notice"]
                with pytest.raises(WebSocketDisconnect) as ended:
                    third.receive_json()
                assert ended.value.code == REFUSED
        assert len(sessions.made) == 2

    def test_one_that_nobody_is_connected_to_makes_room(self, serve, sessions, clock):
        client = serve(most_tabs=2)
        for number in ("one", "two", "three"):
            with opened(client, tab=f"tab-number-{number}") as page:
                page.traits()
            clock.now += 1
        with opened(client, tab="tab-number-two") as page:
            page.traits()
        assert [session.is_closed for session in sessions.made] == [True, False, False]

    def test_all_are_closed_at_the_end(self, sessions):
        with TestClient(
            application(sessions, token=TOKEN, hosts={"127.0.0.1"}), base_url=f"http://{HOST}"
        ) as client:
            for number in ("one", "two"):
                with opened(client, tab=f"tab-number-{number}") as page:
                    page.traits()
        assert [session.is_closed for session in sessions.made] == [True, True]

    def test_deserted_ones_end_by_themselves(self, serve, sessions, clock):
        client = serve(patience=0.1)
        with opened(client) as page:
            page.traits()
        clock.now += 1
        for _ in range(100):
            if sessions.made[0].is_closed:
                break
            threading.Event().wait(0.02)
        assert sessions.made[0].is_closed
