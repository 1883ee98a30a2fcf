"""`wirewright flow run --batch --server`: the same command goes on with the same batch, of the flow as it is."""

import json
from pathlib import Path

import httpx

from flows.document import JsonObject
from tests.cli.remote.conftest import Serve


def test_a_batch_at_a_server_is_that_of_the_flow_as_it_is(serve: Serve, echo: JsonObject, tmp_path: Path) -> None:
    remote = serve()
    (tmp_path / "inputs.jsonl").write_text('"a"\n"b"\n')
    (tmp_path / "echo.json").write_text(json.dumps({**echo, "name": "Echo"}))
    flow = remote.run("flow", "import", tmp_path / "echo.json", "--json").json
    flow_id = (flow.get("flows") or [flow])[0]["id"]
    batch = ("flow", "run", flow_id, "--batch", tmp_path / "inputs.jsonl", "--out", tmp_path / "out", "--json")
    first = remote.run(*batch)
    assert (first.code, first.json["done"]) == (0, 2), first
    assert remote.run(*batch).json["id"] == first.json["id"]
    headers = {"Authorization": f"Bearer {remote.token}", "If-Match": '"1"'}
    address = f"{remote.url}/api/v1/flows/{flow_id}"
    assert httpx.put(address, json={**echo, "name": "Other"}, headers=headers).status_code == 200
    other = remote.run(*batch)
    assert other.json["id"] != first.json["id"]
    assert other.json["done"] == 2
