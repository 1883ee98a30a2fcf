"""The files of deployment name settings, commands, ports and paths that exist, and take no more rights than needed."""

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from starlette.routing import Route

from cli.main import command_line
from runtime.engine.isolation import protections
from runtime.install.environment import RunnerEnvironment
from server.app import create_app
from server.middleware.token_check import OPEN_PATHS
from server.serve import STOP_SECONDS
from server.settings import ServerSettings

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "operations"
OTHERS = {
    *("HOME", "PATH", "PYTHONDONTWRITEBYTECODE", "UV_CACHE_DIR", "UV_COMPILE_BYTECODE", "UV_LINK_MODE"),
    *("UV_PYTHON_DOWNLOADS", "POSTGRES_DB", "POSTGRES_PASSWORD", "POSTGRES_USER", "WIREWRIGHT_COMMIT", "EXTRA"),
}
"""Variables of the system, of uv, of Postgres' image and of the build."""
TEMPORARY = "/tmp"  # noqa: S108  (a place in the image)
OURS = {
    *(f"WIREWRIGHT_{name.upper()}" for name in ServerSettings.model_fields),
    *re.findall(r"^# ([A-Z_0-9]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE),
}


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile with their arguments, in order."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in joined.splitlines())]


DOCKERFILE = instructions((FOLDER / "Dockerfile").read_text())
FINAL = DOCKERFILE[[name for name, _ in DOCKERFILE].index("FROM", 1) :]
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())
KUBERNETES: list[dict[str, Any]] = list(yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text()))
UNIT = [
    (name.strip(), value.strip())
    for name, sign, value in (
        line.partition("=") for line in (FOLDER / "wirewright.service").read_text().splitlines() if line[:1] != "#"
    )
    if sign
]
SERVICE: dict[str, Any] = COMPOSE["services"]["wirewright"]
WORKER: dict[str, Any] = COMPOSE["services"]["worker"]


def of_kind(kind: str) -> dict[str, Any]:
    """The one object of a kind."""
    [found] = [each for each in KUBERNETES if each["kind"] == kind]
    return found


DEPLOYED: dict[str, Any] = of_kind("Deployment")["spec"]["template"]["spec"]
PODS: list[dict[str, Any]] = [DEPLOYED, of_kind("Job")["spec"]["template"]["spec"]]
CONTAINERS: list[dict[str, Any]] = [
    container for pod in PODS for container in (*pod.get("initContainers", []), *pod["containers"])
]
[SERVER] = DEPLOYED["containers"]


def image_environment() -> dict[str, str]:
    """The environment that the image sets."""
    pairs = [part.split("=", 1) for name, rest in FINAL if name == "ENV" for part in shlex.split(rest)]
    return dict(pairs)


def pod_environment(container: dict[str, Any]) -> dict[str, str]:
    """The environment of a container of a pod; a secret stands for its own name."""
    return {one["name"]: one.get("value", "a-secret-of-at-least-32-characters") for one in container.get("env", [])}


def unit_environment() -> dict[str, str]:
    """The environment of the unit."""
    return dict(value.split("=", 1) for name, value in UNIT if name == "Environment")


ENVIRONMENTS = {
    "image": image_environment(),
    "compose": {name: str(value) for name, value in SERVICE["environment"].items()},
    "worker": {name: str(value) for name, value in WORKER["environment"].items()},
    "pod": pod_environment(SERVER),
    "job": pod_environment(CONTAINERS[-1]),
    "unit": unit_environment(),
}


def commands() -> list[tuple[str, list[str]]]:
    """Every command line of ours in these files, with where it stands."""
    found = [("image", json.loads(dict(FINAL)["CMD"])), ("compose", SERVICE["command"])]
    found += [("worker", WORKER["command"])]
    found += [(container["name"], container["args"]) for container in CONTAINERS]
    found += [(name, shlex.split(value)[1:]) for name, value in UNIT if name.startswith("Exec")]
    for file in FOLDER.iterdir():
        if file.suffix != ".json":
            text = file.read_text()
            found += [
                (file.name, shlex.split(line))
                for line in re.findall(r"(?:run --rm|exec) wirewright (.+)$", text, re.MULTILINE)
            ]
            found += [
                (file.name, shlex.split(line))
                for line in re.findall(r"^(?:\$ )?wirewright ([a-z].+)$", text, re.MULTILINE)
            ]
            found += [(file.name, shlex.split(line)) for line in re.findall(r"`wirewright ([^`]+)`", text)]
    return found


def check_command(arguments: Sequence[str]) -> None:
    """Raise unless the words name a command with options that it has."""
    command: Any = typer.main.get_command(command_line())
    words = list(arguments)
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        found = command.commands.get(words[0])
        assert found is not None, f"no command {words[0]!r} in {arguments}"
        command, words = found, words[1:]
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    assert [word for word in words if word.startswith("-") and word not in known] == [], arguments


@pytest.mark.parametrize("place", ENVIRONMENTS)
def test_every_variable_is_one_that_something_reads(place: str) -> None:
    assert ENVIRONMENTS[place]
    assert sorted(set(ENVIRONMENTS[place]) - OURS - OTHERS) == []


def test_every_variable_that_the_files_mention_exists() -> None:
    for file in FOLDER.iterdir():
        mentioned = set(re.findall(r"\b(WIREWRIGHT_[A-Z_]+[A-Z])\b", file.read_text()))
        assert sorted(mentioned - OURS - OTHERS) == [], file.name


@pytest.mark.parametrize("place", ENVIRONMENTS)
def test_the_settings_accept_the_values(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    filled = {"WIREWRIGHT_NAMES": "flows.example.org", "OPENAI_API_KEY": ""}
    for name, value in ENVIRONMENTS[place].items():
        if name.startswith("WIREWRIGHT_"):
            named = re.sub(r"\$\{(\w+):[?-][^}]*\}", lambda match: filled.get(match[1], "x" * 32), value)
            monkeypatch.setenv(name, named)
    settings = ServerSettings()
    assert settings.port == 7878
    assert settings.metrics_port in (None, 9464)


def test_every_command_exists() -> None:
    found = commands()
    assert len({place for place, _ in found}) >= 6
    for _, arguments in found:
        check_command(arguments)
    for wrong in (["serv"], ["serve", "--porte", "1"], ["users", "invent"]):
        with pytest.raises(AssertionError):
            check_command(wrong)


def test_the_image_is_of_a_named_version_and_runs_as_a_plain_user() -> None:
    bases = [rest.split()[0] for name, rest in DOCKERFILE if name == "FROM"]
    assert len(set(bases)) == 1, "the environment of the first stage names the Python of its base"
    assert re.fullmatch(r"python:3\.1[1-3]-slim-\w+", bases[0])
    names = [name for name, _ in FINAL]
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", dict(FINAL)["USER"])
    assert not [rest for name, rest in FINAL[names.index("USER") :] if name in {"RUN", "COPY", "USER"}][1:]
    assert "ADD" not in {name for name, _ in DOCKERFILE}
    for name in ("ENTRYPOINT", "CMD"):
        assert json.loads(dict(FINAL)[name])
    assert dict(FINAL)["STOPSIGNAL"] == "SIGTERM"
    for name, rest in DOCKERFILE:
        assert name != "RUN" or not re.search(
            r"\bsudo\b|curl|wget|(?<!uv )pip install (?!--no-cache-dir)|apt-get", rest
        )
    ignored = (FOLDER / "Dockerfile.dockerignore").read_text().split()
    assert {".git", ".venv", ".cache", ".env"} <= set(ignored)
    needed = {"pyproject.toml", "uv.lock", "README.md", "LICENSE", "scripts", "docs", *_packages()}
    assert not needed & set(ignored)


def _packages() -> Iterable[str]:
    return ("wirewright.py", "agent", "cli", "evals", "flows", "runtime", "server", "tools", "lfx_runner")


def test_the_ports_are_those_that_the_server_listens_on() -> None:
    port = ServerSettings().port
    assert set(dict(FINAL)["EXPOSE"].split()) == {str(port), "9464"}
    assert set(SERVICE["expose"]) == {str(port), "9464"}
    assert {each["name"]: each["containerPort"] for each in SERVER["ports"]} == {"http": port, "metrics": 9464}
    assert of_kind("Service")["spec"]["ports"][0]["targetPort"] == "http"
    assert COMPOSE["services"]["proxy"]["command"][-1] == f"wirewright:{port}"


def test_health_is_asked_for_at_paths_that_exist_and_by_a_name_that_the_server_answers_to() -> None:
    served = {route.path for route in create_app(ServerSettings()).routes if isinstance(route, Route)}
    [asked] = re.findall(r"urlopen\('([^']+)'", dict(FINAL)["HEALTHCHECK"])
    assert asked == f"http://127.0.0.1:{ServerSettings().port}/healthz"
    assert WORKER["healthcheck"] == {"disable": True}, "the image's check asks a port, and a worker has none"
    paths = {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    for name, path in paths.items():
        probe = SERVER[name]["httpGet"]
        assert probe["path"] == path
        assert path in served & OPEN_PATHS
        assert {"name": "Host", "value": "localhost"} in probe["httpHeaders"]


def test_there_is_more_time_to_stop_than_draining_takes() -> None:
    def needed(place: str) -> float:
        return float(ENVIRONMENTS[place]["WIREWRIGHT_DRAIN_SECONDS"]) + STOP_SECONDS

    assert int(SERVICE["stop_grace_period"].removesuffix("s")) > needed("compose")
    assert DEPLOYED["terminationGracePeriodSeconds"] > needed("pod")
    assert int(dict(UNIT)["TimeoutStopSec"]) > needed("unit")
    assert (dict(UNIT)["KillMode"], dict(UNIT)["KillSignal"]) == ("mixed", "SIGTERM")


def test_nothing_can_be_written_but_what_is_mounted_for_it() -> None:
    folders = {image_environment()[name] for name in ("WIREWRIGHT_DATA", "WIREWRIGHT_CACHE")}
    assert set(json.loads(dict(FINAL)["VOLUME"])) == folders
    assert SERVICE["read_only"] is True
    assert {each.split(":")[1] for each in SERVICE["volumes"]} == folders
    assert [each.split(":")[0] for each in SERVICE["tmpfs"]] == [TEMPORARY]
    for name in ("HOME", "UV_CACHE_DIR"):
        assert any(image_environment()[name].startswith(folder) for folder in folders)
    for container in CONTAINERS:
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert {each["mountPath"] for each in container["volumeMounts"]} == {*folders, TEMPORARY}
    unit = dict(UNIT)
    assert unit["ProtectSystem"] == "strict"
    for name, folder in (("StateDirectory", "/var/lib"), ("CacheDirectory", "/var/cache")):
        assert f"{folder}/{unit[name]}" in unit_environment().values()


def test_no_right_is_taken_that_is_not_needed_and_none_refused_that_confines_runs() -> None:
    assert SERVICE["cap_drop"] == ["ALL"]
    assert SERVICE["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in SERVICE
    for pod in PODS:
        context = pod["securityContext"]
        assert (context["runAsNonRoot"], context["seccompProfile"]["type"]) == (True, "RuntimeDefault")
        assert f"{context['runAsUser']}:{context['runAsGroup']}" == dict(FINAL)["USER"]
        assert pod["automountServiceAccountToken"] is False
    for container in CONTAINERS:
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["capabilities"]["drop"] == ["ALL"]
    unit = dict(UNIT)
    assert (unit["NoNewPrivileges"], unit["CapabilityBoundingSet"], unit["User"]) == ("yes", "", "wirewright")
    assert not {"RestrictNamespaces", "PrivateUsers", "ProcSubset", "SystemCallFilter"} & unit.keys()


def test_the_unit_is_one_that_systemd_reads() -> None:
    assert (FOLDER / "wirewright.service").read_text().count("\n[") == 3
    tool = shutil.which("systemd-analyze")
    if tool is None:
        return  # the settings are checked above, and systemd does the rest where it is installed
    done = subprocess.run(
        [tool, "verify", str(FOLDER / "wirewright.service")], capture_output=True, text=True, timeout=60, check=False
    )
    told = [line for line in done.stderr.splitlines() if "wirewright.service" in line]
    assert [line for line in told if "is not executable" not in line] == []


def test_no_secret_stands_in_the_files() -> None:
    for name in ("WIREWRIGHT_SECRET_KEY", "WIREWRIGHT_DATABASE"):
        for one in SERVER["env"]:
            assert one["name"] != name or "secretKeyRef" in one["valueFrom"]
        assert "${" in str(SERVICE["environment"][name])


def test_the_page_says_for_every_protection_whether_it_holds_in_a_container() -> None:
    page = (FOLDER / "README.md").read_text()
    source = RunnerEnvironment.locate().source
    rows = dict(re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|", page, re.MULTILINE))
    for each in protections(source):
        assert each.name in rows, each.name
