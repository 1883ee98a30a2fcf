"""An error as a page for people: what happened and what to do. It loads nothing and runs nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Final, NamedTuple

from flows.document import JsonObject
from flows.json_values import as_text


class _Words(NamedTuple):
    """What a page says about a kind of error.

    Attributes:
        title: what happened.
        why: more about it.
        steps: what to do, each a step; a text between backquotes is a command.
    """

    title: str
    why: str
    steps: tuple[str, ...] = ()


_ENGLISH: Final[Mapping[str, _Words]] = {
    "code_invalid": _Words(
        "This sign-in link no longer works",
        "A link signs in one browser, once, and only for a short time. This one was used before, or is too old.",
        (
            "If this browser was signed in with it, go back to the start: it still is.",
            "For a new link, run `wirewright token --link` where the server runs, and open what it prints.",
            "If somebody else runs the server, ask them for a link, or sign in at the start with your token.",
        ),
    ),
    "unauthorized": _Words(
        "This browser is not signed in",
        "The server shows this address only to those whom it knows.",
        (
            "Run `wirewright token --link` where the server runs, and open what it prints.",
            "Or sign in at the start with your token.",
        ),
    ),
    "not_found": _Words("There is nothing at this address", "It may be misspelt, or what was there has been removed."),
    "start": _Words("Back to the start", ""),
    "other": _Words("This did not work", ""),
}
_GERMAN: Final[Mapping[str, _Words]] = {
    "code_invalid": _Words(
        "Dieser Anmeldelink gilt nicht mehr",
        "Ein Link meldet einen Browser an, einmal und nur für kurze Zeit. Dieser wurde schon benutzt oder ist zu alt.",
        (
            "Hat er diesen Browser angemeldet, geh zurück zum Anfang: Er ist es noch.",
            "Einen neuen Link gibt `wirewright token --link` auf dem Rechner des Servers aus. Öffne ihn hier.",
            "Betreibt jemand anders den Server, bitte dort um einen Link, oder melde dich am Anfang mit dem Token an.",
        ),
    ),
    "unauthorized": _Words(
        "Dieser Browser ist nicht angemeldet",
        "Der Server zeigt diese Adresse nur denen, die er kennt.",
        (
            "Führe `wirewright token --link` auf dem Rechner des Servers aus und öffne den Link, den es ausgibt.",
            "Oder melde dich am Anfang mit deinem Token an.",
        ),
    ),
    "not_found": _Words(
        "Unter dieser Adresse ist nichts", "Vielleicht ist sie falsch geschrieben, oder es ist gelöscht."
    ),
    "start": _Words("Zurück zum Anfang", ""),
    "other": _Words("Das hat nicht geklappt", ""),
}
_PORTUGUESE: Final[Mapping[str, _Words]] = {
    "code_invalid": _Words(
        "Este link de acesso não vale mais",
        "Um link conecta um navegador, uma vez e por pouco tempo. Este já foi usado ou é antigo demais.",
        (
            "Se ele conectou este navegador, volte ao início: ele continua conectado.",
            "Para um novo link, execute `wirewright token --link` onde o servidor roda e abra o que ele mostra.",
            "Se outra pessoa cuida do servidor, peça um link a ela, ou entre no início com o seu token.",
        ),
    ),
    "unauthorized": _Words(
        "Este navegador não está conectado",
        "O servidor mostra este endereço só a quem ele conhece.",
        (
            "Execute `wirewright token --link` onde o servidor roda e abra o que ele mostra.",
            "Ou entre no início com o seu token.",
        ),
    ),
    "not_found": _Words("Não há nada neste endereço", "Talvez esteja escrito errado, ou o que havia foi removido."),
    "start": _Words("Voltar ao início", ""),
    "other": _Words("Isto não funcionou", ""),
}
_LANGUAGES: Final = {"en": _ENGLISH, "de": _GERMAN, "pt": _PORTUGUESE}
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2}(?=[-,;\s]|$)")
_COMMAND: Final = re.compile(r"`([^`]+)`")


def accepts_pages(accept: str) -> bool:
    """Whether a client wants to show what it gets to a person: browsers name HTML, other clients do not."""
    return "text/html" in accept.lower()


def error_page(status: int, error: JsonObject, languages: str = "") -> str:
    """The page for an error.

    Args:
        status: the HTTP status.
        error: what stands under `error` in the reply for other clients.
        languages: the header `Accept-Language`; only English texts of the server's own are left as they are.
    """
    language = _language(languages)
    words = _LANGUAGES[language]
    known = words.get(as_text(error.get("code")))
    title, why, steps = known or words["other"]
    if known is None:
        why, steps = as_text(error.get("message")), tuple(filter(None, (as_text(error.get("fix")),)))
    listed = "".join(f"<li>{_with_commands(step)}</li>" for step in steps)
    return _PAGE.format(
        language=language,
        title=escape(title),
        why=_with_commands(why),
        steps=f"<ul>{listed}</ul>" if listed else "",
        start=escape(words["start"].title),
        figures=escape(" · ".join(filter(None, (str(status), as_text(error.get("request_id")))))),
    )


def _language(header: str) -> str:
    wanted = [found[0].lower() for part in header.split(",") if (found := _LANGUAGE.match(part.strip()))]
    return next((one for one in wanted if one in _LANGUAGES), "en")


def _with_commands(text: str) -> str:
    return _COMMAND.sub(r"<code>\1</code>", escape(text, quote=False))


_PAGE: Final = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} – Wirewright</title>
<style>
:root {{ color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif;
  color: light-dark(#0f172a, #e6eaf1); background: light-dark(#ffffff, #11151c) }}
body {{ margin: 0 }}
main {{ max-width: 60ch; margin: 15vh auto 0; padding: 16px; display: grid; gap: 12px }}
.brand {{ display: flex; align-items: center; gap: 8px; font-weight: 600 }}
h1 {{ font-size: 18px; margin: 0 }}
p, ul {{ margin: 0 }}
ul {{ padding-left: 16px; display: grid; gap: 8px }}
code {{ font: 13px ui-monospace, monospace; background: light-dark(#f4f6fa, #1a212c); padding: 2px 4px;
  border-radius: 4px; overflow-wrap: anywhere }}
a {{ justify-self: start; display: inline-flex; align-items: center; min-height: 32px; padding: 4px 12px;
  border-radius: 8px; background: light-dark(#4338ca, #a5b4fc); color: light-dark(#ffffff, #14162b);
  text-decoration: none }}
a:focus-visible {{ outline: 2px solid light-dark(#4338ca, #a5b4fc); outline-offset: 2px }}
small {{ color: light-dark(#475569, #a8b3c4); font-size: 12px; overflow-wrap: anywhere }}
</style>
</head>
<body>
<main>
<p class="brand">
<svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true">
<rect width="32" height="32" rx="8" fill="#3730a3"/>
<path d="M7 10h5a4 4 0 0 1 4 4v4a4 4 0 0 0 4 4h5" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/>
<circle cx="7" cy="10" r="3" fill="#fbbf24"/><circle cx="25" cy="22" r="3" fill="#34d399"/>
</svg>
Wirewright
</p>
<h1>{title}</h1>
<p>{why}</p>
{steps}
<a href="/">{start}</a>
<small>{figures}</small>
</main>
</body>
</html>
"""
