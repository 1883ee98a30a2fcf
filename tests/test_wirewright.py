"""The Python face: its names come at once, and load no provider's SDK before a turn needs one."""

import subprocess
import sys

SDKS = ("openai", "anthropic", "google.genai", "groq", "mistralai", "boto3")


def test_the_face_loads_no_sdk() -> None:
    code = "\n".join(
        [
            "import sys, wirewright",
            "for name in wirewright.__all__: getattr(wirewright, name)",
            f"print(*[name for name in {SDKS!r} if name in sys.modules])",
        ]
    )
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert loaded.stdout.split() == []
