"""The hosts of a run in words, in results, and as the cause of its error."""

from dataclasses import replace

from runtime.egress.account import OTHERS, EgressAccount
from runtime.egress.policy import EgressPolicy, HostRefused
from runtime.egress.words import hosts_in_words
from runtime.redaction import Redactor
from runtime.results import RunError, RunHost, RunResult
from tests.shared.stand_ins import ran


def test_hosts_are_listed_with_bytes_both_ways_and_the_refused_ones_as_such() -> None:
    hosts = (
        RunHost(host="api.example.com", port=443, sent=1234, received=5),
        RunHost(host="::1", port=80, refused=True),
        RunHost(host="b.example.com", port=80, sent=1, received=2, refused=True),
        RunHost(host=OTHERS, port=0, refused=True),
    )
    assert hosts_in_words(hosts) == (
        "api.example.com:443 (1,234 bytes sent, 5 received), [::1]:80 (refused), "
        "b.example.com:80 (1 bytes sent, 2 received, then refused), other hosts (refused)"
    )
    assert hosts_in_words(()) == ""
    assert hosts_in_words(hosts * 5).endswith(", 10 more")


def test_hosts_outlive_a_round_trip_and_hold_no_secret() -> None:
    result = replace(ran("x"), hosts=(RunHost(host="topsecret.example.com", port=443, sent=1, received=2),))
    assert RunResult.from_json(result.to_json()) == result
    [host] = Redactor(["topsecret"]).result(result).hosts
    assert host.host == "***.example.com"


def failed_run(account: EgressAccount, message: str) -> str:
    """Why a run failed, by its account, when its component says so."""
    error = RunError(code="external", message=message, node="n")
    explained = account.account_for(replace(ran("x"), error=error)).error
    assert explained is not None
    assert explained.node == "n"
    return explained.message


def test_a_refused_host_is_the_cause_of_an_error_that_names_it_and_of_no_other() -> None:
    account = EgressAccount(EgressPolicy())
    refusal = RunError(code="refused", message="The run may not reach 10.0.0.5:80: it is private.", fix="Name it.")
    account.fail("10.0.0.5", 80, HostRefused(refusal))
    assert failed_run(account, f"ProxyError: 403 {refusal.message}") == refusal.message
    assert failed_run(account, "could not fetch http://10.0.0.5/") == refusal.message
    assert failed_run(account, "the model is overloaded") == "the model is overloaded"
    assert account.account_for(ran("x")).error is None
