"""What `from wirewright import ...` gives: every public name, and the classes that they hold or give."""

import json
from pathlib import Path

from tests.surfaces.normalisation import plain
from tests.surfaces.subject import Workplace

PROBE = Path(__file__).parent / "face_probe.py"

MISSING = """import wirewright
try:
    wirewright.Nothing
except AttributeError as error:
    print(error)
"""


def capture_face(place: Workplace) -> dict[str, str]:
    """Each public name with its kind, signature, fields, members and JSON schema, by the name of its snapshot."""
    probed = place.run(["-P", str(PROBE)], program=place.subject.python)
    assert (probed.code, probed.err) == (0, ""), probed.err
    found = json.loads(probed.out)
    missing = place.run(["-P", "-c", MISSING], program=place.subject.python)
    assert (missing.code, missing.err) == (0, ""), missing.err
    index = {"all": found["all"], "dir": found["dir"], "reached": sorted(found["reached"]), "unknown": missing.out}
    documents = {
        "index": index,
        **found["names"],
        **{f"reached.{key}": found["reached"][key] for key in found["reached"]},
    }
    return {
        f"{name}.json": plain(json.dumps(document, ensure_ascii=False, indent=1), place.places) + "\n"
        for name, document in documents.items()
    }
