"""The Python face: what can be imported from `wirewright`, and how it is called."""

from collections.abc import Callable, Mapping

from tests.surfaces.captures.face_capture import capture_face
from tests.surfaces.subject import Workplace


def test_every_public_name_is_as_committed(place: Workplace, matches: Callable[[str, Mapping[str, str]], None]) -> None:
    matches("face", capture_face(place))
