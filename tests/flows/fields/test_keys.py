"""Keys in ordinary text: which are found, under which variable, and what is no key."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.fields.keys import REMOVED, find_keys, json_without_keys, without_keys

TAIL = "Ab3dEf6hIj9kLm2nOp5q"
HEX = "0123456789abcdef0123456789abcdef"
KEYS = {
    f"sk-{TAIL}": "OPENAI_API_KEY",
    f"sk-proj-{TAIL}-{TAIL}": "OPENAI_API_KEY",
    f"sk-svcacct-{TAIL}": "OPENAI_API_KEY",
    f"sk-{HEX}": "OPENAI_API_KEY",
    f"sk-ant-api03-{TAIL}_{TAIL}": "ANTHROPIC_API_KEY",
    f"sk-or-v1-{HEX}{HEX}": "OPENROUTER_API_KEY",
    f"sk-lf-{TAIL}": "LANGFUSE_SECRET_KEY",
    f"AIza{TAIL}{TAIL}": "GOOGLE_API_KEY",
    f"ya29.{TAIL}{TAIL}": "GOOGLE_ACCESS_TOKEN",
    f"GOCSPX-{TAIL}": "GOOGLE_CLIENT_SECRET",
    f"gsk_{TAIL}": "GROQ_API_KEY",
    f"hf_{TAIL}": "HUGGINGFACEHUB_API_TOKEN",
    f"xai-{TAIL}": "XAI_API_KEY",
    f"pplx-{TAIL}": "PERPLEXITY_API_KEY",
    f"r8_{TAIL}": "REPLICATE_API_TOKEN",
    f"tvly-dev-{TAIL}": "TAVILY_API_KEY",
    f"nvapi-{TAIL}": "NVIDIA_API_KEY",
    f"fw_{TAIL}": "FIREWORKS_API_KEY",
    f"csk-{HEX}": "CEREBRAS_API_KEY",
    f"tgp_v1_{TAIL}": "TOGETHER_API_KEY",
    f"lsv2_pt_{HEX}_0123456789": "LANGSMITH_API_KEY",
    f"llx-{TAIL}": "LLAMA_CLOUD_API_KEY",
    f"jina_{HEX}{TAIL}": "JINA_API_KEY",
    f"pcsk_{TAIL}_{TAIL}": "PINECONE_API_KEY",
    f"AstraCS:{TAIL}:{HEX}": "ASTRA_DB_APPLICATION_TOKEN",
    f"fc-{HEX}": "FIRECRAWL_API_KEY",
    f"ghp_{TAIL}": "GITHUB_TOKEN",
    f"github_pat_{TAIL}": "GITHUB_TOKEN",
    f"glpat-{TAIL}": "GITLAB_TOKEN",
    "AKIAIOSFODNN7EXAMPLE": "AWS_ACCESS_KEY_ID",
    f"xoxb-1234567890-{TAIL}": "SLACK_TOKEN",
    f"sk_live_{TAIL}": "STRIPE_SECRET_KEY",
    f"SG.{TAIL}.{TAIL}": "SENDGRID_API_KEY",
    f"key-{HEX}": "MAILGUN_API_KEY",
    f"SK{HEX}": "TWILIO_API_KEY",
    "1234567890:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc": "TELEGRAM_BOT_TOKEN",
    f"secret_{TAIL}{TAIL}": "NOTION_TOKEN",
    f"lin_api_{TAIL}": "LINEAR_API_KEY",
    f"dapi{HEX}": "DATABRICKS_TOKEN",
    f"dop_v1_{HEX}{HEX}": "DIGITALOCEAN_TOKEN",
    f"dckr_pat_{TAIL}": "DOCKER_TOKEN",
    f"shpat_{HEX}": "SHOPIFY_TOKEN",
    f"sbp_{HEX}01234567": "SUPABASE_TOKEN",
    f"ATATT3xFf{TAIL}": "ATLASSIAN_API_TOKEN",
    f"figd_{TAIL}": "FIGMA_TOKEN",
    f"hvs.{TAIL}": "VAULT_TOKEN",
    f"glsa_{TAIL}_01234567": "GRAFANA_TOKEN",
    f"npm_{TAIL}{TAIL}": "NPM_TOKEN",
    f"eyJhbGciOiJIUzI1NiJ9.{TAIL}.{TAIL}": "ACCESS_TOKEN",
}
"""Keys of known shapes, with the variable that usually holds them."""

NAMED = {
    f"My API key is {TAIL}": "API_KEY",
    f"my SerpAPI api key is {TAIL}": "SERPAPI_API_KEY",
    f"serper_api_key={HEX}": "SERPER_API_KEY",
    f'{{"cohere_api_key": "{TAIL}"}}': "COHERE_API_KEY",
    f"password: {TAIL}": "PASSWORD",
    "the Postgres password is tr0ub4dor&3": "POSTGRES_PASSWORD",
    f"Mein API-Schlüssel ist {TAIL}": "API_KEY",
    f"A minha chave de API é {TAIL}": "API_KEY",
    f"Mi clave de API es {TAIL}": "API_KEY",
    f"Ma clé d'API est {TAIL}": "API_KEY",
    f"APIキーは{TAIL}": "API_KEY",
    f"我的API密钥是{TAIL}": "API_KEY",
    f"Authorization: Bearer {TAIL}": "ACCESS_TOKEN",
    f"token={HEX}": "TOKEN",
    "Use xK9vQ2mZ7pL4wR8tY1uN6sB3cD5fG0hJ for it": "API_KEY",
    "Mistral: Zq81LmvX0aKc9RtyB27WnpE5sDfGhJ3u": "API_KEY",
}
"""Keys that a word names, or that look random, with the variable that is suggested."""

OTHER_TEXT = [
    "Connect 'Prompt Template-uV2QQ.text' to ChatOutput-J4iyL",
    "Set the API key to OPENAI_API_KEY",
    "Set the API key to MY_OPENAI_API_KEY_2",
    "Which API key does the Agent need, and where is the password kept?",
    "The password is required and must have at least 12 characters, 1 digit",
    "Use gpt-4o-mini-2024-07-18 and claude-opus-5-5-20260101",
    "Use us.anthropic.claude-3-5-sonnet-20241022-v2:0 and meta-llama/Llama-3.3-70B-Instruct-Turbo",
    "The run 5fdcb1e2-7a0c-4a52-9d1d-0a6a4f1b9c11 failed with sk-short",
    "Load https://example.org/a/very/long/path/0123456789abcdef0123456789",
    "Read https://docs.google.com/spreadsheets/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "The spreadsheet's ID is 1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms",
    "ask-someone-who-knows-everything-about-it",
    "Use sk-learn-compatible-estimators in the task",
    "commit ae47c2c0f5d1b3e4a6978c2d1e0f3b5a7c9d8e6f fixed it",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "MD5 9e107d9d372bb6826bd81d3542a419d6",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "The box is 1920x1080, the ISBN 978-3-16-148410-0, the IBAN DE89370400440532013000",
    "Call +49 30 901820 or write to someone.with.a.long.name.2024@example-company.org",
    "The class HTTPResponseParserFactoryBean2ImplV3WithCache is in com.example.Parser2",
    "python -m pytest tests/agent/turn/answers/test_words.py -k test_a_plain_yes_2024",
    "node ids: CustomComponent-1aB2c, ParserComponent-9zX8y, LanguageModelComponent-Qw3rT",
    "Order #2024-11-23-000123 of customer C-00123456, tracking 1Z999AA10123456784",
    "The bitcoin address 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa got 0.5",
    "s3://bucket/year=2024/month=11/part-00000-5fdcb1e2-7a0c-4a52-9d1d-0a6a4f1b9c11.snappy.parquet",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft1871",
    "What is the token limit 128000 of GPT4? The keyword is 2024summerSale",
    "http://localhost:7878/api/v1/flows/7f0c2a1e-9b1d-4c52-8d1d-0a6a4f1b9c11/run",
]
"""What stands in ordinary messages and is no key."""


@pytest.mark.parametrize(("key", "variable"), KEYS.items())
def test_a_key_of_a_known_shape_is_found_wherever_it_stands(key: str, variable: str) -> None:
    for text in (key, f"Use {key}, please", f'{{"x":"{key}"}}', f"(x={key})", f"Nutze {key} dafür."):
        (found,) = find_keys(text)
        assert (found.variable, found.value.rstrip(".")) == (variable, key)
        assert key not in without_keys(text)


@pytest.mark.parametrize(("text", "variable"), NAMED.items())
def test_a_key_is_found_when_a_word_names_it_or_it_looks_random(text: str, variable: str) -> None:
    (found,) = find_keys(text)
    assert found.variable == variable
    assert found.value not in without_keys(text)


@pytest.mark.parametrize("text", OTHER_TEXT)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert without_keys(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "postgres://admin:s3cret@db.example.org/main",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_a_secret_that_no_field_takes_is_found_without_a_variable(text: str) -> None:
    (found,) = find_keys(text)
    assert found.variable == ""
    assert found.value not in repr(found)


def test_several_keys_of_a_text_are_found_in_order() -> None:
    text = f"AWS: AKIAIOSFODNN7EXAMPLE, secret key: {TAIL}{TAIL}, and ghp_{TAIL}"
    assert [one.variable for one in find_keys(text)] == ["AWS_ACCESS_KEY_ID", "SECRET_KEY", "GITHUB_TOKEN"]


def test_keys_are_removed_from_texts_and_names_of_json() -> None:
    given = {f"sk-{TAIL}": [f"use sk-{TAIL}", 3, None, True]}
    assert json_without_keys(given) == {REMOVED: [f"use {REMOVED}", 3, None, True]}


@given(st.text(max_size=200))
def test_removing_keys_twice_is_removing_them_once(text: str) -> None:
    assert without_keys(without_keys(text)) == without_keys(text)


@pytest.mark.parametrize(
    "part",
    ["password:", "password: a", "sk-a-", "a" * 64, "://a:", "token ", "eyJaaaaaaaaa.", "-----BEGIN PRIVATE KEY-----"],
)
def test_a_large_text_takes_no_longer_than_its_size(part: str) -> None:
    text, begun = part * (1_000_000 // len(part)), time.process_time()
    find_keys(text)
    assert time.process_time() - begun < 20
