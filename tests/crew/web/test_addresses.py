"""Which addresses belong to the open internet."""

from ipaddress import ip_network

import pytest

from orkeon_transitions.crew.web.addresses import may_connect, parsed, refused_among

PRIVATE_V4 = [
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255"),
    *("192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1"),
    *("203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "192.88.99.1"),
]
PRIVATE_V6 = [
    *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fec0::1", "ff02::1", "2001:db8::1"),
    *("100::1", "64:ff9b:1::1", "2001::1"),
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001::1"]


@pytest.mark.parametrize("text", [*PRIVATE_V4, *PRIVATE_V6])
def test_what_is_not_of_the_open_internet_is_refused(text):
    assert refused_among([text], ()) == text


@pytest.mark.parametrize("text", PUBLIC)
def test_what_is_of_the_open_internet_may_be_reached(text):
    assert refused_among([text], ()) is None


@pytest.mark.parametrize("prefix", ["::ffff:{}", "64:ff9b::{}", "::{}"])
@pytest.mark.parametrize("text", PRIVATE_V4)
def test_an_address_that_stands_for_another_is_judged_by_that(prefix, text):
    if prefix == "::{}" and text == "0.0.0.0":
        return
    assert not may_connect(parsed(prefix.format(text)), ())
    assert may_connect(parsed(prefix.format("1.1.1.1")), ())


@pytest.mark.parametrize(
    ("network", "inside", "outside"),
    [
        ("127.0.0.1/32", "127.0.0.1", "127.0.0.2"),
        ("10.0.0.0/8", "::ffff:10.1.2.3", "192.168.0.1"),
        ("::1/128", "::1", "127.0.0.1"),
        ("fd00::/8", "fd00::7", "fe80::1"),
    ],
)
def test_networks_may_be_allowed_besides(network, inside, outside):
    allowed = [ip_network(network)]
    assert may_connect(parsed(inside), allowed)
    assert not may_connect(parsed(outside), allowed)


def test_allowing_a_network_of_wrapped_addresses_does_not_allow_what_is_wrapped():
    assert not may_connect(parsed("::ffff:127.0.0.1"), [ip_network("::ffff:0:0/96")])


def test_one_of_several_is_enough_to_refuse():
    assert refused_among(["1.1.1.1", "127.0.0.1", "10.0.0.1"], ()) == "127.0.0.1"
    assert refused_among([], ()) is None
