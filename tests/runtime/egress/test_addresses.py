"""Which addresses are public, however they are written."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.egress.addresses import is_public, read_address

PRIVATE = """
127.0.0.1 127.255.255.254 0.0.0.0 10.0.0.5 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 169.254.170.2
100.64.0.1 100.100.100.200 168.63.129.16 192.0.0.192 192.0.2.1 198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.1
239.255.255.250 240.0.0.1 255.255.255.255 ::1 :: fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 fec0::1 ff02::1 2001:db8::1
::ffff:127.0.0.1 ::ffff:10.0.0.5 ::ffff:169.254.169.254 ::127.0.0.1 2002:7f00:1:: 2002:a9fe:a9fe:: 64:ff9b::7f00:1
64:ff9b::a00:5 64:ff9b:1::7f00:1 2001:0:4136:e378:8000:63bf:3fff:fdd2 100::1
"""
PUBLIC = """
1.1.1.1 8.8.8.8 93.184.215.14 151.101.1.140 2606:4700:4700::1111 2a00:1450:4001:80b::200e ::ffff:1.1.1.1 2002:101:101::
64:ff9b::101:101
"""


@pytest.mark.parametrize("text", PRIVATE.split())
def test_an_address_is_not_public_when_it_leads_into_this_machine_or_a_private_network(text: str) -> None:
    address = read_address(text)
    assert address is not None
    assert not is_public(address)


@pytest.mark.parametrize("text", PUBLIC.split())
def test_an_address_of_the_internet_is_public(text: str) -> None:
    address = read_address(text)
    assert address is not None
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_an_ipv6_address_is_what_the_ipv4_address_in_it_is(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    mapped = ipaddress.IPv6Address((0xFFFF << 32) | number)
    sixtofour = ipaddress.IPv6Address((0x2002 << 112) | (number << 80))
    nat64 = ipaddress.IPv6Address((0x64FF9B << 96) | number)
    assert {is_public(mapped), is_public(sixtofour), is_public(nat64)} == {is_public(address)}


@pytest.mark.parametrize("text", ["example.com", "127.1", "0x7f000001", "2130706433", "", "1.2.3.4.5"])
def test_a_text_that_is_no_whole_address_is_left_to_the_look_up(text: str) -> None:
    assert read_address(text) is None
