"""Keys and passwords typed into a message, which are removed before a model, a log or a store sees them."""

import re

REMOVED = "[a key that was removed]"
"""What stands in place of a key."""

_KNOWN = (
    r"\bsk-(?:ant-|proj-|or-v1-|svcacct-)?[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic, OpenRouter and their like
    r"|\bAIza[0-9A-Za-z_-]{30,}"  # Google
    r"|\b(?:gsk|hf|xai|pplx|r8|tvly|nvapi|fw|lsv2_pt|lsv2_sk)[_-][A-Za-z0-9_-]{16,}"
    r"|\b(?:gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"  # AWS
    r"|\bxox[abeprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"  # Stripe
    r"|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"  # SendGrid
    r"|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"  # JSON Web Tokens
)
_PRIVATE = r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
_NAMED = re.compile(
    r"(?P<name>\b(?:api[ _-]?(?:key|token)|access[ _-]?(?:key|token)|auth[ _-]?token|secret[ _-]?key"
    r"|client[ _-]?secret|bearer|chave(?:\s+de\s+api)?|clave(?:\s+de\s+api)?|schlüssel|api-schlüssel|clé(?:\s+d'api)?"
    r"|password|passwort|senha"
    r"|contraseña|mot\s+de\s+passe)\s*(?:is|é|es|ist|est|:|=)?\s*[\"'`]?)"
    r"(?P<key>(?=[^\s\"'`]*\d)(?=[^\s\"'`]*[A-Za-z])[A-Za-z0-9_\-.+/=]{16,})",
    re.IGNORECASE,
)
_SHAPED = re.compile(f"{_PRIVATE}|{_KNOWN}")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+\Z")


def without_keys(text: str) -> str:
    """A text without the keys in it: those of a known shape, and long ones that are named as a key or password.

    Args:
        text: what a user has typed.
    """
    return _NAMED.sub(_named, _SHAPED.sub(REMOVED, text))


def _named(found: re.Match[str]) -> str:
    key = found.group("key")
    if _VARIABLE.match(key):  # the name of a variable, such as OPENAI_API_KEY_2
        return found.group()
    return f"{found.group('name')}{REMOVED}"
