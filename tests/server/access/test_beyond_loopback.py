"""Serving beyond this machine: to users alone, encrypted, under its own names, and to named origins."""

import ssl
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError

from flows.catalogue import Catalogue
from server.serve import CannotServe, serve
from server.settings import ServerSettings
from tests.server.live import FLOWS, Live, serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
ORIGIN = "https://app.example.org"
NAME = "flows.example.org"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - what is tested is when this is refused


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of this machine's and its key."""
    folder = tmp_path_factory.mktemp("tls")
    key, made = folder / "key.pem", folder / "certificate.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    try:
        subprocess.run([*command, *subject, "-keyout", key, "-out", made], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    return made, key


def test_plain_http_beyond_this_machine_is_refused() -> None:
    with pytest.raises(ValidationError, match="plain HTTP shows tokens"):
        ServerSettings(host=EVERYWHERE, names=(NAME,))


def test_a_server_beyond_this_machine_knows_its_names() -> None:
    with pytest.raises(ValidationError, match="WIREWRIGHT_NAMES"):
        ServerSettings(host=EVERYWHERE, proxy_headers=("10.0.0.2",))


@pytest.mark.parametrize(
    "given",
    [
        {"tls_key": "key.pem"},
        {"tls_certificate": "c.pem"},
        {"proxy_headers": "anything"},
        {"proxy_headers": "0.0.0.0/0"},
        {"proxy_headers": "::/0"},
        {"names": "https://flows.example.org"},
        {"names": "*"},
        {"names": "flows.example.org:443"},
        {"origins": "*"},
        {"origins": "app.example.org"},
        {"origins": "https://app.example.org/"},
        {"host": "flows.example.org", "names": NAME, "proxy_headers": "10.0.0.2"},
    ],
)
def test_what_would_open_more_than_is_meant_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ServerSettings(**given)  # pyright: ignore[reportArgumentType]  # wrong on purpose


def test_lists_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREWRIGHT_NAMES", "Flows.Example.org, 192.0.2.7")
    monkeypatch.setenv("WIREWRIGHT_ORIGINS", f"{ORIGIN},http://127.0.0.1:5173")
    monkeypatch.setenv("WIREWRIGHT_PROXY_HEADERS", "10.0.0.0/8, fd00::/8")
    settings = ServerSettings()
    assert settings.names == (NAME, "192.0.2.7")
    assert settings.origins == (ORIGIN, "http://127.0.0.1:5173")
    assert settings.proxy_headers == ("10.0.0.0/8", "fd00::/8")


def test_it_does_not_start_without_a_user(certificate: tuple[Path, Path]) -> None:
    settings = ServerSettings(
        host=EVERYWHERE, port=0, names=(NAME,), tls_certificate=certificate[0], tls_key=certificate[1]
    )
    with pytest.raises(CannotServe, match="at least one user") as refused:
        serve(settings)
    assert "wirewright users add" in refused.value.fix


@pytest.mark.parametrize("broken", ["missing", "empty", "swapped"])
def test_a_certificate_that_cannot_be_used_is_said_before_anything_listens(
    broken: str, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    made, key = certificate
    empty = tmp_path / "empty.pem"
    empty.touch()
    pair = {"missing": (tmp_path / "none.pem", key), "empty": (empty, key), "swapped": (key, made)}[broken]
    with pytest.raises(CannotServe, match="certificate") as refused:
        serve(ServerSettings(port=0, tls_certificate=pair[0], tls_key=pair[1]))
    assert str(tmp_path) not in str(refused.value)


async def test_tls_is_spoken_with_the_certificate(catalogue: Catalogue, certificate: tuple[Path, Path]) -> None:
    settings = ServerSettings(tls_certificate=certificate[0], tls_key=certificate[1])
    async with serving(assistant(catalogue), settings) as live:
        trusted = ssl.create_default_context(cafile=str(certificate[0]))
        base, token = str(live.client.base_url).replace("http:", "https:"), live.client.headers["authorization"]
        async with httpx.AsyncClient(base_url=base, verify=trusted, trust_env=False) as client:
            assert (await client.get(FLOWS, headers={"Authorization": token})).status_code == 200
            signed_in = await client.post("/sign-in", json={"token": token.removeprefix("Bearer ")})
            assert "secure" in signed_in.headers["set-cookie"].lower()
            own = {"Origin": base.rstrip("/")}
            assert (await client.post(FLOWS, json={}, headers=own)).status_code == 422, "its own page may change things"
        with pytest.raises(httpx.HTTPError):
            await live.client.get("/healthz")


@pytest.fixture
async def named(catalogue: Catalogue) -> AsyncGenerator[Live]:
    """A server with a name, an origin and a proxy on this machine."""
    settings = ServerSettings(names=(NAME,), origins=(ORIGIN,), proxy_headers=("127.0.0.1",))
    async with serving(assistant(catalogue), settings) as live:
        yield live


async def test_it_answers_to_its_own_names_alone(named: Live) -> None:
    for host, status in ((NAME, 200), (f"{NAME.upper()}:443", 200), ("evil.example", 403), (f"x.{NAME}", 403)):
        assert (await named.client.get(FLOWS, headers={"Host": host})).status_code == status, host


async def test_pages_of_named_origins_use_a_token_and_others_read_nothing(named: Live) -> None:
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    allowed = await named.stranger.options(FLOWS, headers={"Origin": ORIGIN, **asks})
    refused = await named.stranger.options(FLOWS, headers={"Origin": "https://evil.example", **asks})
    assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, ORIGIN)
    assert "access-control-allow-credentials" not in allowed.headers
    assert "access-control-allow-origin" not in refused.headers
    posted = await named.client.post(FLOWS, json={}, headers={"Origin": ORIGIN})
    assert (posted.status_code, posted.headers["access-control-allow-origin"]) == (422, ORIGIN)
    assert (await named.client.post(FLOWS, json={}, headers={"Origin": "https://evil.example"})).status_code == 403


async def test_without_named_origins_there_is_no_cors(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.get(FLOWS, headers={"Origin": ORIGIN})
        asked = await live.stranger.options(FLOWS, headers={"Origin": ORIGIN, "Access-Control-Request-Method": "GET"})
    assert not [name for reply in (reply, asked) for name in reply.headers if name.startswith("access-control")]


async def test_what_a_trusted_proxy_says_of_its_client_is_believed(named: Live) -> None:
    wrong = {"Authorization": "Bearer wrong", "X-Forwarded-For": "192.0.2.1"}
    for _ in range(30):
        await named.stranger.get(FLOWS, headers=wrong)
    last = await named.stranger.get(FLOWS, headers=wrong)
    other = await named.stranger.get(FLOWS, headers={**wrong, "X-Forwarded-For": "192.0.2.2"})
    assert (last.status_code, other.status_code) == (429, 401)


async def test_without_trusted_proxies_nothing_is_believed(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        statuses = [
            (
                await live.stranger.get(
                    FLOWS, headers={"Authorization": "Bearer wrong", "X-Forwarded-For": f"192.0.2.{number}"}
                )
            ).status_code
            for number in range(30)
        ]
    assert statuses[-1] == 429
