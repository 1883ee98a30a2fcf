"""Telling a text's language by its small words, without a model: English, German, French, Spanish, Portuguese."""

from __future__ import annotations

import re
from collections.abc import Mapping

LEAST = 3
"""How many small words a text must have before its language is told."""

_TEXTS = {
    "en": """the a an and or of to in on with for it is are was were that this i you my your we they not can please
        what which how from when be have has do does did will would should if there then so but into out all""",
    "de": """der die das und oder ein eine einen einem einer von zu im in mit für es ist sind war dass ich du mein dein
        wir nicht kann bitte was welche wie aus wenn haben hat wird würde soll dann aber dem den des auf alle""",
    "fr": """le la les et ou un une des du de à dans avec pour il elle est sont était que ce cette je tu vous mon votre
        nous ne pas peut quel quelle comment quand avoir a ont fait si puis mais au aux sur qui moi
        j ai l puis tout cela""",
    "es": """el la los las y o un una unos de del al en con para es son fue que este esta yo tú mi tu su nosotros no
        puede qué cuál cómo cuando tener ha han hace si luego pero por lo me se todo""",
    "pt": """o a os as e ou um uma de do da dos das ao em no na com para é são foi que este esta eu você meu seu nós
        não pode qual como quando ter tem faz se depois mas por isso me tudo pelo pela""",
}
SMALL: Mapping[str, frozenset[str]] = {code: frozenset(text.split()) for code, text in _TEXTS.items()}
"""Frequent words of each language that carry little meaning."""

_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`|«[^»\n]*»|„[^“\n]*“|\{[^}\n]*\}|https?://\S+")


def detect_language(text: str) -> str | None:
    """The language of a text as a two-letter code, or None when it cannot be told.

    What stands in quotes, braces or addresses does not count: it is somebody else's text. A language is told when at
    least `LEAST` of its small words occur and no other language has as many.
    """
    words = re.findall(r"[^\W\d_]+", _QUOTED.sub(" ", text).lower())
    counts = {code: sum(word in small for word in words) for code, small in SMALL.items()}
    ranked = sorted(counts.items(), key=lambda entry: -entry[1])
    (best, most), (_, second) = ranked[0], ranked[1]
    return best if most >= LEAST and most > second else None
