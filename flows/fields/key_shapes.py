"""What keys of known services look like, and the variables that usually hold them."""

from __future__ import annotations

import re
from typing import Final

NOT_KEPT: Final = ""
"""The variable of what is a secret, but nothing that a field takes as it stands."""

_AFTER: Final[tuple[tuple[str, str], ...]] = (
    (NOT_KEPT, r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)"),
    (NOT_KEPT, r"(?<=://)[^\s/:@]+:[^\s/@]+(?=@)"),
    (NOT_KEPT, r"(?<=hooks\.slack\.com/services/)[\w/]{12,}"),
    ("ACCESS_TOKEN", r"(?<=(?i:bearer)\s)(?=[^\s\"']{0,200}\d)[\w.~+/-]{12,}=*"),
    (NOT_KEPT, r"(?<=(?i:basic)\s)(?=[^\s\"']{0,200}[a-z][A-Z])[A-Za-z0-9+/]{12,}={0,2}(?=[\"'\s]|$)"),
)
"""Secrets that a text before them, or their first line, gives away."""

_BEGUN: Final[tuple[tuple[str, str], ...]] = (
    ("ANTHROPIC_API_KEY", r"sk-ant-[\w-]{16,}"),
    ("OPENROUTER_API_KEY", r"sk-or-(?:v1-)?[\w-]{16,}"),
    ("LANGFUSE_SECRET_KEY", r"[sp]k-lf-[\w-]{16,}"),
    ("STRIPE_SECRET_KEY", r"(?:[prs]k_(?:live|test)_\w{10,}|whsec_[A-Za-z0-9+/]{20,})"),
    ("OPENAI_API_KEY", r"(?:sk|pk|rk)[-_](?:(?=[\w-]{0,200}\d)[\w-]{16,}|\w{20,})"),
    ("GOOGLE_API_KEY", r"AIza[\w-]{30,}"),
    ("GOOGLE_ACCESS_TOKEN", r"ya29\.[\w-]{20,}"),
    ("GOOGLE_CLIENT_SECRET", r"GOCSPX-[\w-]{20,}"),
    ("GROQ_API_KEY", r"gsk_\w{16,}"),
    ("HUGGINGFACEHUB_API_TOKEN", r"hf_[A-Za-z0-9]{16,}"),
    ("XAI_API_KEY", r"xai-[A-Za-z0-9]{16,}"),
    ("PERPLEXITY_API_KEY", r"pplx-[A-Za-z0-9]{16,}"),
    ("REPLICATE_API_TOKEN", r"r8_[A-Za-z0-9]{16,}"),
    ("TAVILY_API_KEY", r"tvly-[\w-]{16,}"),
    ("NVIDIA_API_KEY", r"nvapi-[\w-]{16,}"),
    ("FIREWORKS_API_KEY", r"fw_[A-Za-z0-9]{16,}"),
    ("CEREBRAS_API_KEY", r"csk-[a-z0-9]{30,}"),
    ("TOGETHER_API_KEY", r"tgp_v1_[\w-]{20,}"),
    ("LANGSMITH_API_KEY", r"lsv2_(?:pt|sk)_\w{16,}"),
    ("LLAMA_CLOUD_API_KEY", r"llx-[A-Za-z0-9]{20,}"),
    ("JINA_API_KEY", r"jina_[\w-]{20,}"),
    ("PINECONE_API_KEY", r"pcsk_\w{20,}"),
    ("ASTRA_DB_APPLICATION_TOKEN", r"AstraCS:[\w:]{20,}"),
    ("FIRECRAWL_API_KEY", r"fc-[0-9a-f]{32}\b"),
    ("E2B_API_KEY", r"e2b_[0-9a-f]{40}\b"),
    ("VOYAGE_API_KEY", r"pa-(?=[\w-]{0,60}\d)[A-Za-z0-9_-]{40,}"),
    ("GITHUB_TOKEN", r"(?:gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_\w{20,})"),
    ("GITLAB_TOKEN", r"glpat-[\w-]{16,}"),
    ("AWS_ACCESS_KEY_ID", r"(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("SLACK_TOKEN", r"x(?:ox[abeprs]|app)-[A-Za-z0-9-]{10,}"),
    ("SENDGRID_API_KEY", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    ("MAILGUN_API_KEY", r"key-[0-9a-f]{32}\b"),
    ("TWILIO_API_KEY", r"SK[0-9a-f]{32}\b"),
    ("TELEGRAM_BOT_TOKEN", r"\d{8,10}:(?=[\w-]{0,40}\d)[\w-]{35}\b"),
    ("DISCORD_BOT_TOKEN", r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}\b"),
    ("NOTION_TOKEN", r"(?:secret_|ntn_)[A-Za-z0-9]{40,}"),
    ("LINEAR_API_KEY", r"lin_api_[A-Za-z0-9]{20,}"),
    ("AIRTABLE_API_KEY", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b"),
    ("DATABRICKS_TOKEN", r"dapi[0-9a-f]{32}(?:-\d)?\b"),
    ("DIGITALOCEAN_TOKEN", r"do[opr]_v1_[0-9a-f]{64}\b"),
    ("DOCKER_TOKEN", r"dckr_(?:pat|oat)_[\w-]{20,}"),
    ("SHOPIFY_TOKEN", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"),
    ("SQUARE_TOKEN", r"sq0(?:atp|csp)-[\w-]{20,}"),
    ("SUPABASE_TOKEN", r"sbp_[0-9a-f]{40}\b"),
    ("SENTRY_TOKEN", r"sntry[su]_[\w=+/-]{20,}"),
    ("ATLASSIAN_API_TOKEN", r"ATATT3[\w=-]{20,}"),
    ("FIGMA_TOKEN", r"figd_[\w-]{20,}"),
    ("POSTMAN_API_KEY", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}\b"),
    ("VAULT_TOKEN", r"hv[sbr]\.[\w-]{20,}"),
    ("GRAFANA_TOKEN", r"gl(?:c|sa)_[\w=+/-]{20,}"),
    ("NEW_RELIC_API_KEY", r"NRAK-[A-Z0-9]{27}\b"),
    ("NPM_TOKEN", r"npm_[A-Za-z0-9]{30,}"),
    ("PYPI_TOKEN", r"pypi-[\w-]{40,}"),
    ("ACCESS_TOKEN", r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+"),
)
"""Keys that begin a word, with the variable that usually holds them; of several at one place the first counts."""

SHAPED: Final = re.compile(
    f"{'|'.join(pattern for _, pattern in _AFTER)}|\\b(?:{'|'.join(pattern for _, pattern in _BEGUN)})"
)
"""Finds what looks like a secret."""

_EACH: Final = tuple((variable, re.compile(pattern)) for variable, pattern in _BEGUN)


def variable_of(found: re.Match[str]) -> str:
    """The usual variable of a match of `SHAPED`; `NOT_KEPT` for none."""
    value = found.group()
    if found.string[: found.start()].lower().endswith(("bearer ", "bearer\t")):
        return "ACCESS_TOKEN"
    return next((variable for variable, shape in _EACH if shape.fullmatch(value)), NOT_KEPT)
