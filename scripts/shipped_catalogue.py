"""Writes the component catalogue that ships with the package, from what the installed engine exported."""

from runtime.install.environment import RunnerEnvironment, runner_source
from runtime.install.shipped import FILE, lock_digest, write_shipped


def main() -> None:
    """Write it."""
    environment = RunnerEnvironment.locate(bundles=())
    if not environment.catalogue_current:
        raise SystemExit("The engine of this lock file is not installed here: run `wirewright runner install` first.")
    write_shipped(environment.catalogue, FILE, lock_digest(runner_source()))
    print(f"{FILE.name}: {FILE.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
