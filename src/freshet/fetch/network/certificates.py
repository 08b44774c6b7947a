"""Verifies server certificates against the system's trust store and the host's name.

The store is OpenSSL's own: ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` name another one. Pages that
waive verification use another policy and another connection pool.
"""

from collections.abc import Callable, Iterator
from typing import Any

from cryptography.x509 import DNSName, ExtensionNotFound, IPAddress, SubjectAlternativeName
from OpenSSL import SSL
from OpenSSL.crypto import X509
from scrapy.core.downloader.contextfactory import (
    _ScrapyCertificateOptions,
    _ScrapyClientContextFactory,
)
from scrapy.crawler import Crawler
from service_identity import CertificateError, VerificationError
from service_identity.hazmat import DNS_ID, IPAddress_ID, verify_service_identity
from service_identity.pyopenssl import extract_patterns
from twisted.internet._sslverify import ClientTLSOptions
from twisted.internet.ssl import platformTrust
from twisted.python.failure import Failure
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer

from freshet.fetch.network.failures import UntrustedCertificateError

MAX_NAMES_SHOWN = 3
VerifyCallback = Callable[[SSL.Connection, X509, int, int, int], bool]

# The error numbers of OpenSSL's X509_verify_cert, and their meanings.
_NOT_YET, _EXPIRED = 9, 10
_UNKNOWN = "comes from an unknown authority, or the server left part of the chain out"
_PROBLEMS = {
    2: _UNKNOWN,
    7: "was not signed by the authority that it names",
    18: "is self-signed",
    19: "comes from an authority that this system does not trust",
    20: _UNKNOWN,
    21: _UNKNOWN,
    23: "was revoked",
    26: "is not made out for servers",
    66: "has a key that is too weak",
    68: "was signed in a way that is too weak",
}


@implementer(IPolicyForHTTPS)
class CertificatePolicy:
    """Creates TLS connections with or without verification of certificates.

    TLS versions and ciphers come from Scrapy's settings. The trust store is read once, not for
    each connection as Scrapy and Twisted do.
    """

    def __init__(self, crawler: Crawler, *, verify: bool) -> None:
        options = _ScrapyClientContextFactory.from_crawler(crawler)._get_cert_options_kwargs()
        trust = {"trustRoot": platformTrust()} if verify else {}  # type: ignore[no-untyped-call]
        self._options = _ScrapyCertificateOptions(**options, **trust)
        self._kind = _VerifiedTlsOptions if verify else _UnverifiedTlsOptions

    def creatorForNetloc(self, hostname: bytes, port: int) -> ClientTLSOptions:
        """Return the creator of a TLS connection to a host."""
        name = hostname.decode("ascii").strip("[]").rstrip(".")
        return self._kind(self._options._makeTLSConnection, name)


class _VerifiedTlsOptions(ClientTLSOptions):
    """Ends a connection with the reason if the certificate is not valid for the host."""

    def clientConnectionForTLS(self, tlsProtocol: Any) -> SSL.Connection:
        connection = super().clientConnectionForTLS(tlsProtocol)
        connection.set_verify(
            SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT,
            _verification(tlsProtocol, self._hostnameASCII, is_name=self._hostnameIsDnsName),
        )
        return connection


class _UnverifiedTlsOptions(ClientTLSOptions):
    """Accepts any certificate."""

    def clientConnectionForTLS(self, tlsProtocol: Any) -> SSL.Connection:
        connection = super().clientConnectionForTLS(tlsProtocol)
        connection.set_verify(SSL.VERIFY_NONE, lambda *_: True)
        return connection


def _verification(protocol: Any, host: str, *, is_name: bool) -> VerifyCallback:
    """Return OpenSSL's callback for each certificate of a chain, the server's own last.

    It must not raise an exception: OpenSSL would continue without an answer.
    """

    def verify(_: SSL.Connection, certificate: X509, error: int, depth: int, is_fine: int) -> bool:
        try:
            why = "" if is_fine else _problem(certificate, error)
            if not why and depth == 0:
                why = _name_mismatch(certificate, host, is_name=is_name)
        except Exception as fault:  # noqa: BLE001 (an unreadable certificate is not trusted)
            why = f"its certificate cannot be read: {fault}"
        if why:
            reason = Failure(UntrustedCertificateError(why))  # type: ignore[no-untyped-call]
            protocol.failVerification(reason)
        return not why

    return verify


def _problem(certificate: X509, error: int) -> str:
    """Describe an error that OpenSSL reports for a certificate."""
    parsed = certificate.to_cryptography()
    if error == _EXPIRED:
        return f"its certificate has expired since {parsed.not_valid_after_utc:%Y-%m-%d}"
    if error == _NOT_YET:
        return f"its certificate is valid only from {parsed.not_valid_before_utc:%Y-%m-%d} on"
    problem = _PROBLEMS.get(error, f"is not valid (OpenSSL's error {error})")
    return f"its certificate {problem}"


def _name_mismatch(certificate: X509, host: str, *, is_name: bool) -> str:
    """Describe the names of a certificate if the host is not among them; else empty."""
    wanted = DNS_ID(host) if is_name else IPAddress_ID(host)
    try:
        verify_service_identity(extract_patterns(certificate), [wanted], [])
    except (VerificationError, CertificateError):
        names = list(_names(certificate))
        shown = ", ".join(names[:MAX_NAMES_SHOWN]) + (", …" if len(names) > MAX_NAMES_SHOWN else "")
        return f"its certificate is made out for {shown or 'no host at all'}, not for {host}"
    return ""


def _names(certificate: X509) -> Iterator[str]:
    """Yield the names and addresses in a certificate's subjectAltName."""
    extensions = certificate.to_cryptography().extensions
    try:
        names = extensions.get_extension_for_class(SubjectAlternativeName).value
    except ExtensionNotFound:
        return
    yield from names.get_values_for_type(DNSName)
    yield from map(str, names.get_values_for_type(IPAddress))
