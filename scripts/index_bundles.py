"""`python -m scripts.index_bundles`: writes the index of the component types of bundles that are not installed.

Needs a package index and the installed flow engine. The bundles are those that the Langflow of the engine's version
asks for; one that cannot be resolved from wheels for this Python is left out and named. Sizes are for Linux on x86-64.
"""

import asyncio
import json
import lzma
import os
import re
import shutil
import sys
import tempfile
import tomllib
from email.parser import Parser
from pathlib import Path
from typing import Any

import uv

from runtime.install.environment import RunnerEnvironment

INDEX = Path(__file__).parent.parent / "flows" / "bundles" / "index.json.xz"
TYPES = Path(__file__).with_name("bundle_types.py")
MANY = "lfx-bundles"
"""The distribution with a folder and an extra for each of its bundles."""
AT_ONCE = 4
_WHEEL = re.compile(r"-(?:(?:py3|py2\.py3)-none-any|\w+-(?:cp311|abi3|none)-\S*linux\S*x86_64)\.whl$")
_UV = os.fspath(uv.find_uv_bin())


async def _run(*command: str, **variables: str) -> str | None:
    """The output of a command; None when it fails."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT if command[0] == _UV else None,
    )
    output, _ = await process.communicate()
    return output.decode() if process.returncode == 0 else None


async def _resolved(environment: RunnerEnvironment, requirement: str, folder: Path) -> tuple[str, float] | None:
    """The version of a bundle and the megabytes that installing it downloads; None if it does not fit the engine."""
    folder.mkdir()  # noqa: ASYNC240  (a script has nothing else to do)
    for name in ("pyproject.toml", "uv.lock"):
        shutil.copyfile(environment.source / name, folder / name)
    common = ("--no-build", "--color", "never", "--python", sys.executable, "--project", str(folder))
    if await _run(_UV, "add", "--no-sync", *common, "--", requirement) is None:
        return None
    installed = str(environment.python.parent.parent)
    options = ("--dry-run", "--frozen", "--no-dev", "--no-install-project")
    planned = await _run(_UV, "sync", *options, *common, UV_PROJECT_ENVIRONMENT=installed) or ""
    new = dict(re.findall(r"^ \+ (\S+?)==(\S+)", planned, re.MULTILINE))
    locked = {one["name"]: one for one in tomllib.loads((folder / "uv.lock").read_text())["package"]}
    size = sum(_wheel_size(one) for name, one in locked.items() if name in new)
    return locked[requirement.partition("[")[0]]["version"], round(size / 1e6, 1)


def _wheel_size(package: dict[str, Any]) -> int:
    wheels = package.get("wheels", [])
    fitting = [one["size"] for one in wheels if _WHEEL.search(one["url"])] or [one["size"] for one in wheels]
    return max(fitting, default=0)


def _metadata(folder: Path, name: str, key: str) -> list[str]:
    """The values of a key in the metadata of an installed package."""
    file = next(folder.glob(f"{name}-*.dist-info")) / "METADATA"
    return Parser().parsestr(file.read_text()).get_all(key) or []


async def _distributions(environment: RunnerEnvironment, folder: Path) -> list[str]:
    """The distributions of bundles that Langflow asks for, with all its extras."""
    version = environment.status().lfx
    await _run(_UV, "pip", "install", "--no-deps", "--target", str(folder), f"langflow=={version}")
    wanted = _metadata(folder, "langflow", "Requires-Dist")
    names = {found[0] for one in wanted if (found := re.match(r"lfx-[a-z0-9-]+", one))}
    built_in = tomllib.loads((environment.source / "pyproject.toml").read_text())["project"]["dependencies"]
    return sorted(names - {re.split(r"[<>=]", one)[0] for one in built_in})


async def main() -> None:
    """Write the index."""
    environment = RunnerEnvironment.locate(bundles=())
    await environment.install(print)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        queue = asyncio.Semaphore(AT_ONCE)

        async def resolved(requirement: str) -> tuple[str, float] | None:
            async with queue:
                return await _resolved(environment, requirement, folder / re.sub(r"\W+", "-", requirement))

        distributions = await _distributions(environment, folder / "langflow")
        found = dict(zip(distributions, await asyncio.gather(*map(resolved, distributions)), strict=True))
        pinned = [f"{name}=={one[0]}" for name, one in found.items() if one is not None]
        wheels = folder / "wheels"
        python = ("--python", sys.executable)
        await _run(_UV, "pip", "install", *python, "--no-deps", "--target", str(wheels), *pinned)
        printed = await _run(str(environment.python), str(TYPES), str(environment.source), str(wheels))
        types: dict[str, Any] = json.loads((printed or "{}").rpartition("\n")[2])
        names = {kind.split(":")[1] for kind in types}
        folders = sorted(path.name for path in (wheels / "lfx_bundles").iterdir() if path.name in names)
        extras = _metadata(wheels, "lfx_bundles", "Provides-Extra")
        requirements = {one: f"{MANY}[{one}]" if one in extras else MANY for one in folders}
        sizes = dict(zip(folders, await asyncio.gather(*map(resolved, requirements.values())), strict=True))
        for distribution, one in found.items():
            manifest = next((wheels / distribution.replace("-", "_")).glob("extension.json"), None)
            listed: dict[str, Any] = json.loads(manifest.read_text()) if manifest else {}
            for bundle in [each["name"] for each in listed.get("bundles", [])]:
                requirements[bundle], sizes[bundle] = distribution, one
    left_out = sorted(
        {name for name, one in found.items() if one is None}
        | {requirements[b] for b, one in sizes.items() if one is None}
    )
    bundles = {
        name: {"requirement": requirements[name], "size_mb": one[1]}
        for name, one in sorted(sizes.items())
        if one is not None and name in names
    }
    kept = {kind: node for kind, node in sorted(types.items()) if kind.split(":")[1] in bundles}
    document = {"format": 1, "lfx": environment.status().lfx, "bundles": bundles, "components": kept}
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    INDEX.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(kept)} types of {len(bundles)} bundles; left out: {', '.join(left_out) or 'none'}")


if __name__ == "__main__":
    asyncio.run(main())
