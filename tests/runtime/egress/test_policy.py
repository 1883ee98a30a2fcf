"""What runs may reach: by the operator's rule, what the operator names, and what a user approves."""

import ipaddress

import pytest

from runtime.egress.hosts import UnreadableHost, among, direct_names, direct_ports, read_hosts
from runtime.egress.policy import EgressPolicy, HostRefused, HostRule

PUBLIC = ipaddress.ip_address("93.184.215.14")
PRIVATE = ipaddress.ip_address("10.0.0.5")


def allowed(policy: EgressPolicy, host: str, port: int, address: str = "") -> bool:
    """Whether a policy lets a run reach a host that is resolved to an address."""
    try:
        policy.check_name(host, port)
        policy.allowed_addresses(host, port, [ipaddress.ip_address(address) if address else PUBLIC])
    except HostRefused as refused:
        return bool(refused.error.code != "refused" or not refused.error.fix)
    return True


@pytest.mark.parametrize(
    ("rule", "public", "approved", "named"),
    [("allow", True, True, True), ("ask", False, True, True), ("deny", False, False, True)],
)
def test_a_users_run_reaches_what_the_rule_says(rule: HostRule, public: bool, approved: bool, named: bool) -> None:
    policy = EgressPolicy(rule=rule, named=read_hosts(["api.example.com"]), approved=read_hosts(["ok.example.org"]))
    assert allowed(policy, "elsewhere.example.net", 443) is public
    assert allowed(policy, "ok.example.org", 443) is approved
    assert allowed(policy, "api.example.com", 443) is named


def test_a_verification_run_reaches_what_was_approved_and_nothing_else() -> None:
    policy = EgressPolicy(named=read_hosts(["api.example.com"]), approved=read_hosts(["a.org:443"]), verification=True)
    assert allowed(policy, "a.org", 443)
    assert not allowed(policy, "a.org", 80)
    assert not allowed(policy, "api.example.com", 443)
    assert not allowed(policy, "elsewhere.example.net", 443)


@pytest.mark.parametrize("rule", ["allow", "ask"])
def test_a_limited_run_reaches_what_it_is_limited_to_however_it_is_written(rule: HostRule) -> None:
    entries = ["api.example.com", "*.api.example.com", "xn--bcher-kva.example", "10.0.0.5"]
    policy = EgressPolicy(
        rule=rule, named=read_hosts(["10.0.0.0/8"]), approved=read_hosts(entries), only=read_hosts(entries)
    )
    for host, address in (("api.example.com", ""), ("v2.api.example.com", ""), ("xn--bcher-kva.example", "")):
        assert allowed(policy, host, 8443, address)
    assert allowed(policy, "10.0.0.5", 80, "10.0.0.5")
    for host in ("evil.example", "notapi.example.com", "api.example.com.evil.example", "10.0.0.6"):
        assert not allowed(policy, host, 443, "10.0.0.6" if host == "10.0.0.6" else "")


def test_an_approval_would_help_only_where_nothing_else_refuses() -> None:
    def unapproved(policy: EgressPolicy, host: str) -> bool:
        with pytest.raises(HostRefused) as refused:
            policy.check_name(host, 80)
        return refused.value.unapproved

    assert unapproved(EgressPolicy(only=()), "evil.example")
    assert unapproved(EgressPolicy(rule="ask"), "evil.example")
    assert not unapproved(EgressPolicy(rule="deny", only=()), "evil.example")
    assert not unapproved(EgressPolicy(only=()), "169.254.169.254"), "it is private, whoever approves it"
    assert not unapproved(EgressPolicy(verification=True), "evil.example")


def test_a_limited_run_connects_only_to_the_named_hosts_that_it_is_limited_to() -> None:
    named = read_hosts(["db.example.com:5432", "*.corp.example:6379", "10.0.0.0/8:9200", "other.example.com:22"])
    only = read_hosts(["db.example.com", "cache.corp.example", "10.0.0.7"])
    assert direct_ports(among(named, only)) == {5432, 6379, 9200}
    assert among(named, read_hosts(["db.example.com:80"])) == ()
    assert among(named, ()) == ()


def test_no_approval_opens_what_the_operator_denies() -> None:
    named, approved = read_hosts(["api.example.com"]), read_hosts(["a.org", "api.example.com"])
    policy = EgressPolicy(rule="deny", named=named, approved=approved, verification=True)
    assert not allowed(policy, "a.org", 443)
    assert allowed(policy, "api.example.com", 443)


def test_an_approval_opens_no_private_address() -> None:
    approved = EgressPolicy(rule="ask", approved=read_hosts(["10.0.0.5", "db.example.com"]))
    assert not allowed(approved, "10.0.0.5", 80, "10.0.0.5")
    assert not allowed(approved, "db.example.com", 80, "10.0.0.5")


@pytest.mark.parametrize(
    ("entry", "host", "port", "address"),
    [
        ("127.0.0.1", "127.0.0.1", 8080, "127.0.0.1"),
        ("127.0.0.1", "stub.example.com", 8080, "127.0.0.1"),
        ("10.0.0.0/8", "db.example.com", 5432, "10.0.0.5"),
        ("[::1]:9200", "::1", 9200, "::1"),
        ("fd00::/8", "search.example.com", 80, "fd00::7"),
        ("db.example.com:5432", "db.example.com", 5432, "10.0.0.5"),
        ("*.corp.example", "wiki.corp.example", 443, "10.0.0.5"),
        ("DB.Example.COM.", "db.example.com", 1, "10.0.0.5"),
        ("169.254.169.254", "169.254.169.254", 80, "169.254.169.254"),
    ],
)
def test_a_private_host_is_reached_when_the_operator_names_it(entry: str, host: str, port: int, address: str) -> None:
    assert not allowed(EgressPolicy(), host, port, address)
    assert allowed(EgressPolicy(named=read_hosts([entry])), host, port, address)


@pytest.mark.parametrize(
    ("entry", "host", "port", "address"),
    [
        ("127.0.0.1:8080", "127.0.0.1", 8081, "127.0.0.1"),
        ("db.example.com:5432", "db.example.com", 22, "10.0.0.5"),
        ("db.example.com", "notdb.example.com", 80, "10.0.0.5"),
        ("db.example.com", "db.example.com.evil.net", 80, "10.0.0.5"),
        ("*.corp.example", "corp.example", 80, "10.0.0.5"),
        ("*.corp.example", "evilcorp.example", 80, "10.0.0.5"),
        ("10.0.0.0/8", "x.example.com", 80, "192.168.1.1"),
    ],
)
def test_a_private_host_is_refused_when_another_is_named(entry: str, host: str, port: int, address: str) -> None:
    assert not allowed(EgressPolicy(named=read_hosts([entry])), host, port, address)


def test_only_public_and_named_addresses_of_a_host_are_connected_to() -> None:
    loopback = ipaddress.ip_address("::1")
    assert EgressPolicy().allowed_addresses("both.example.com", 80, [PRIVATE, PUBLIC, loopback]) == [PUBLIC]
    named = EgressPolicy(named=read_hosts(["10.0.0.5"]))
    assert named.allowed_addresses("both.example.com", 80, [loopback, PRIVATE]) == [PRIVATE]
    with pytest.raises(HostRefused, match="private network"):
        EgressPolicy().allowed_addresses("both.example.com", 80, [PRIVATE, loopback])


@pytest.mark.parametrize("entry", ["http://a.org", "a.org:0", "a.org:70000", "a b", "-", "10.0.0.0/99", "a.org/path"])
def test_an_entry_that_is_no_host_is_refused_and_quoted(entry: str) -> None:
    with pytest.raises(UnreadableHost, match="'"):
        read_hosts([entry])


def test_ports_are_open_to_runs_when_they_are_named() -> None:
    named = read_hosts(["db.example.com:5432", "10.0.0.5:3306", "*.corp.example:25", "web.example.com", " "])
    assert direct_ports(named) == {5432, 3306, 25}
    assert [str(each) for each in direct_names(named)] == ["db.example.com:5432"]


@pytest.mark.parametrize(
    ("rule", "host", "address", "remedy"),
    [
        ("deny", "api.example.com", PUBLIC, "api.example.com:8443"),
        ("ask", "api.example.com", PUBLIC, "api.example.com:8443"),
        ("allow", "10.0.0.5", PRIVATE, "10.0.0.5:8443"),
        ("allow", "db.corp.example", PRIVATE, "db.corp.example:8443"),
        ("deny", "::1", ipaddress.ip_address("::1"), "[::1]:8443"),
    ],
)
def test_a_refusal_names_host_and_port_as_the_operator_writes_them_and_that_allows_no_other_port(
    rule: HostRule, host: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address, remedy: str
) -> None:
    def reached(policy: EgressPolicy, port: int) -> None:
        policy.check_name(host, port)
        policy.allowed_addresses(host, port, [address])

    with pytest.raises(HostRefused) as refused:
        reached(EgressPolicy(rule=rule), 8_443)
    assert remedy in refused.value.error.message
    assert f"WIREWRIGHT_RUN_HOSTS={remedy}." in refused.value.error.fix
    named = EgressPolicy(rule=rule, named=read_hosts([remedy]))
    reached(named, 8_443)
    if rule != "allow" or address == PRIVATE:
        with pytest.raises(HostRefused):
            reached(named, 8_444)
