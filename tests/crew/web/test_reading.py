"""From a page to its text."""

import time

import pytest

from orkeon_transitions.crew.web.reading import decoded, readable


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("plain", "plain"),
        ("a &lt; b &amp;amp; c", "a < b &amp; c"),
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("one<br>two<br/>three", "one\ntwo\nthree"),
        ("<tr><td>a</td><td>b</td></tr><tr><td>c</td></tr>", "a b\n\nc"),
        ("a<script>if (1 < 2) '</p>'</script>b<style>p {}</style>c", "abc"),
        ("a<SCRIPT>x</ScRiPt >b", "ab"),
        ("a<!-- <p>no</p> -->b<!DOCTYPE html>c<?php echo ?>d", "abcd"),
        ('<a title="1 > 2" href=x>link</a>', "link"),
        ("<a title='1 > 2'>link</a> it's", "link it's"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("<b>bold</b><i>italic</i>", "bolditalic"),
        ("a<script>never closed", "a"),
        ("a<!-- never closed", "a"),
        ("a<b never closed", "a"),
        ('a<b c="never closed>', "a"),
        ("  many \t blanks \n\n\n\n lines ", "many blanks\n\nlines"),
        ("<h1>İstanbul</h1><script>x</script>y", "İstanbul\n\ny"),
        ("", ""),
    ],
)
def test_what_a_reader_sees(page, text):
    assert readable(page)[1].split() == text.split()
    assert "\n\n\n" not in readable(page)[1]


def test_the_title_is_kept_apart():
    assert readable("<title> Tea\n &amp; cake </title><p>x") == ("Tea & cake", "x")
    assert readable("<title>never closed") == ("never closed", "")


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("größe".encode(), "text/html", "größe"),
        ("größe".encode("latin-1"), "text/html; charset=iso-8859-1", "größe"),
        ("größe".encode("latin-1"), 'text/html; charset="ISO-8859-1"', "größe"),
        (b'<meta charset="latin-1">' + "ö".encode("latin-1"), "text/html", '<meta charset="latin-1">ö'),
        (b"\xff", "text/html", "�"),
        ("ö".encode(), "text/html; charset=nonsense", "ö"),
        ("ö".encode(), "text/html; charset=base64", "ö"),
    ],
)
def test_a_body_is_read_by_its_charset(body, content_type, text):
    assert decoded(body, content_type) == text


@pytest.mark.parametrize(
    "part",
    ["<", "<!--", "<a ", "<a b='", '<a b="', "<script>", "<title>", "</", "<!", "&", "&#", "\n ", "<p>"],
)
def test_no_page_takes_longer_than_its_length(part):
    before = time.process_time()
    readable(part * (1_000_000 // len(part)))
    assert time.process_time() - before < 5
