"""Digests as WARC writes them: SHA-1 in base32. Other algorithms and hexadecimal are understood."""

import base64
import binascii
import hashlib

SHA1_BYTES = 20
_KNOWN_ALGORITHMS = frozenset({"md5", "sha1", "sha224", "sha256", "sha384", "sha512"})


def sha1(data: bytes) -> bytes:
    """Return the SHA-1 of the data; it identifies content and secures nothing."""
    return hashlib.sha1(data, usedforsecurity=False).digest()


def format_digest(digest: bytes) -> str:
    """Format a SHA-1 as WARC does.

    >>> format_digest(sha1(b""))
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return f"sha1:{base64.b32encode(digest).decode()}"


def matches_digest(declared: str, data: bytes) -> bool:
    """Return whether the data have the declared digest; an unknown algorithm counts as a match.

    >>> matches_digest("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", b"")
    True
    >>> matches_digest("sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709", b"x")
    False
    """
    algorithm, _, text = declared.partition(":")
    algorithm = algorithm.strip().lower().replace("-", "")
    if algorithm not in _KNOWN_ALGORITHMS:
        return True
    return (
        _decode_digest(text.strip()) == hashlib.new(algorithm, data, usedforsecurity=False).digest()
    )


def matches_sha1(declared: str, digest: bytes) -> bool:
    """Return whether a SHA-1 is the declared one; another algorithm counts as a match."""
    algorithm, _, text = declared.partition(":")
    return algorithm.strip().lower() != "sha1" or _decode_digest(text.strip()) == digest


def parse_sha1(declared: str) -> bytes | None:
    """Return the SHA-1 that a digest field declares; None for other or invalid digests.

    >>> parse_sha1(format_digest(sha1(b""))) == sha1(b"")
    True
    >>> parse_sha1("md5:00") is None
    True
    """
    algorithm, _, text = declared.partition(":")
    digest = _decode_digest(text.strip()) if algorithm.strip().lower() == "sha1" else b""
    return digest if len(digest) == SHA1_BYTES else None


def _decode_digest(text: str) -> bytes:
    """Decode a digest: hexadecimal if possible, else base32; an invalid one gives no bytes."""
    try:
        return binascii.unhexlify(text)
    except ValueError:
        pass
    try:
        return base64.b32decode(text + "=" * (-len(text) % 8), casefold=True)
    except ValueError:
        return b""
