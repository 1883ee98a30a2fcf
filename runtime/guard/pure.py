"""Functions that compute the same for the same constants and touch nothing: what the guard may call itself."""

from __future__ import annotations

import base64
import binascii
import bz2
import codecs
import html
import itertools
import json
import lzma
import textwrap
import urllib.parse
import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from runtime.guard.parsing import literal

MAX_SIZE = 20_000
"""Characters, bytes or parts of the longest constant that is computed."""


def _loads(text: Any) -> object:
    found: object = json.loads(text)
    if not isinstance(found, str | int | float):
        raise TypeError
    return found


def _range(*bounds: int) -> object:
    made = range(*bounds)
    if len(made) > MAX_SIZE:
        raise OverflowError
    return made


def _inflate(data: Any, *_: object) -> bytes:
    return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(data, MAX_SIZE)


def _rot(text: Any, codec: Any = "utf-8", *_: object) -> object:
    if not isinstance(codec, str) or len(text) > MAX_SIZE:
        raise TypeError
    return codecs.decode(text, codec)


def _encoded(text: Any, codec: Any = "utf-8", *_: object) -> object:
    if not isinstance(codec, str) or len(text) > MAX_SIZE:
        raise TypeError
    return codecs.encode(text, codec)


def _text(value: Any = "", *codec: Any) -> str:
    return str(*_no_containers((value,)), *codec)


def _no_containers(args: tuple[Any, ...]) -> tuple[Any, ...]:
    if any(isinstance(arg, tuple) for arg in args):
        raise TypeError  # whether it is a list or a tuple, and so how it is written, is not known
    return args


def _reversed(parts: Any) -> tuple[Any, ...]:
    return tuple(reversed(parts))


def _zip(*parts: Any) -> tuple[Any, ...]:
    return tuple(zip(*parts, strict=False))


def _enumerate(parts: Any, start: int = 0) -> tuple[Any, ...]:
    return tuple(zip(itertools.count(start), parts, strict=False))


def _next(parts: Any, *_: Any) -> Any:
    return parts[0]


def _join(glue: Any, parts: Any) -> Any:
    return glue.join(parts)


def _decode(data: Any, *args: Any) -> Any:
    return data.decode(*args)


def _bunzip(data: Any) -> bytes:
    return bz2.BZ2Decompressor().decompress(data, MAX_SIZE)


def _unlzma(data: Any) -> bytes:
    return lzma.LZMADecompressor().decompress(data, MAX_SIZE)


def _plus(left: Any, right: Any) -> Any:
    return left + right


def _item(whole: Any, key: Any) -> Any:
    return whole[key]


def _xor(left: Any, right: Any) -> Any:
    return left ^ right


def _chain(*parts: Any) -> tuple[Any, ...]:
    return tuple(itertools.chain(*parts))


def _chain_from(parts: Any) -> tuple[Any, ...]:
    return tuple(itertools.chain.from_iterable(parts))


def _islice(parts: Any, *args: Any) -> tuple[Any, ...]:
    return tuple(itertools.islice(parts, *args))


def _repr(value: Any) -> str:
    return repr(_no_containers((value,))[0])


def _ascii(value: Any) -> str:
    return ascii(_no_containers((value,))[0])


def _format(value: Any, spec: str = "") -> str:
    if len(spec) > 8:
        raise TypeError
    return format(_no_containers((value,))[0], spec)


def _joined_path(*parts: str) -> str:
    joined = ""
    for part in parts:
        joined = part if part.startswith("/") or not joined else f"{joined.rstrip('/')}/{part}"
    return joined


_TABLE: dict[str, Callable[..., object]] = {
    "@chr": chr,
    "@ord": ord,
    "@str": _text,
    "@bytes": bytes,
    "@bytearray": bytes,
    "@int": int,
    "@float": float,
    "@bool": bool,
    "@len": len,
    "@list": tuple,
    "@tuple": tuple,
    "@set": tuple,
    "@frozenset": tuple,
    "@iter": tuple,
    "@reversed": _reversed,
    "@sorted": sorted,
    "@range": _range,
    "@zip": _zip,
    "@enumerate": _enumerate,
    "@hex": hex,
    "@oct": oct,
    "@bin": bin,
    "@repr": _repr,
    "@ascii": _ascii,
    "@abs": abs,
    "@min": min,
    "@max": max,
    "@sum": sum,
    "@next": _next,
    "@format": _format,
    "@str.lower": str.lower,
    "@str.upper": str.upper,
    "@str.join": _join,
    "@str.replace": str.replace,
    "@bytes.fromhex": bytes.fromhex,
    "@bytearray.fromhex": bytes.fromhex,
    "@bytes.decode": _decode,
    "@int.to_bytes": int.to_bytes,
    "@int.from_bytes": int.from_bytes,
    "base64.b64decode": base64.b64decode,
    "base64.standard_b64decode": base64.b64decode,
    "base64.urlsafe_b64decode": base64.urlsafe_b64decode,
    "base64.decodebytes": base64.decodebytes,
    "base64.b32decode": base64.b32decode,
    "base64.b16decode": base64.b16decode,
    "base64.a85decode": base64.a85decode,
    "base64.b85decode": base64.b85decode,
    "binascii.unhexlify": binascii.unhexlify,
    "binascii.a2b_hex": binascii.unhexlify,
    "binascii.a2b_base64": binascii.a2b_base64,
    "codecs.decode": _rot,
    "codecs.encode": _encoded,
    "zlib.decompress": _inflate,
    "gzip.decompress": _inflate,
    "bz2.decompress": _bunzip,
    "lzma.decompress": _unlzma,
    "urllib.parse.urljoin": urllib.parse.urljoin,
    "urllib.parse.quote": urllib.parse.quote,
    "urllib.parse.unquote": urllib.parse.unquote,
    "urllib.parse.unquote_plus": urllib.parse.unquote_plus,
    "html.unescape": html.unescape,
    "json.loads": _loads,
    "ast.literal_eval": literal,
    "textwrap.dedent": textwrap.dedent,
    "os.path.join": _joined_path,
    "operator.add": _plus,
    "operator.concat": _plus,
    "operator.getitem": _item,
    "operator.xor": _xor,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_from,
    "itertools.islice": _islice,
    "sys.intern": str,
    "os.fspath": str,
    "collections.deque": tuple,
}
PURE: Mapping[str, Callable[..., object]] = MappingProxyType(_TABLE)
"""By dotted path; `@` marks a builtin."""
