"""Digests as WARC writes them, SHA-1 in base32; other hashes and spellings are understood."""

import base64
import binascii
import hashlib

SHA1_BYTES = 20
_KNOWN = frozenset({"md5", "sha1", "sha224", "sha256", "sha384", "sha512"})


def sha1(data: bytes) -> bytes:
    """Return the 20 bytes of a SHA-1, which names content here and secures nothing."""
    return hashlib.sha1(data, usedforsecurity=False).digest()


def format_digest(digest: bytes) -> str:
    """Write a SHA-1 as WARC does.

    >>> format_digest(sha1(b""))
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return f"sha1:{base64.b32encode(digest).decode()}"


def matches_digest(declared: str, data: bytes) -> bool:
    """Whether data have the declared digest; one of an unknown kind is taken on trust.

    >>> matches_digest("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", b"")
    True
    >>> matches_digest("sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709", b"x")
    False
    """
    kind, _, text = declared.partition(":")
    kind = kind.strip().lower().replace("-", "")
    if kind not in _KNOWN:
        return True
    return _value(text.strip()) == hashlib.new(kind, data, usedforsecurity=False).digest()


def matches_sha1(declared: str, digest: bytes) -> bool:
    """Whether a SHA-1 already at hand is the declared one; other kinds are taken on trust."""
    kind, _, text = declared.partition(":")
    return kind.strip().lower() != "sha1" or _value(text.strip()) == digest


def parse_sha1(declared: str) -> bytes | None:
    """Return the SHA-1 that a digest field declares; None for another kind, or for nonsense.

    >>> parse_sha1(format_digest(sha1(b""))) == sha1(b"")
    True
    >>> parse_sha1("md5:00") is None
    True
    """
    kind, _, text = declared.partition(":")
    value = _value(text.strip()) if kind.strip().lower() == "sha1" else b""
    return value if len(value) == SHA1_BYTES else None


def _value(text: str) -> bytes:
    """Read the digest's text: hexadecimal where it can be, or else base32."""
    try:
        return binascii.unhexlify(text)
    except ValueError:
        pass
    try:
        return base64.b32decode(text + "=" * (-len(text) % 8), casefold=True)
    except ValueError:
        return b""
