"""Certificates for servers of tests: good ones of an authority made here, and bad ones."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PEM = serialization.Encoding.PEM
EXPIRED = datetime(2026, 3, 1, tzinfo=UTC)
START, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2046, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Authority:
    """An authority that signs certificates; ``file`` is what ``SSL_CERT_FILE`` must name."""

    folder: Path
    key: ec.EllipticCurvePrivateKey
    file: Path
    name: str

    @classmethod
    def make(cls, folder: Path, called: str = "Test authority") -> Self:
        """Make an authority whose files lie in a folder."""
        key, name = ec.generate_private_key(ec.SECP256R1()), _name(called)
        usage = x509.BasicConstraints(ca=True, path_length=0)
        certificate = (
            _builder(name, name, key)
            .not_valid_after(END)
            .add_extension(usage, critical=True)
            .sign(key, hashes.SHA256())
        )
        file = folder / "authority.pem"
        file.write_bytes(certificate.public_bytes(PEM))
        return cls(folder, key, file, called)

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables that make this authority the only trusted one."""
        return {"SSL_CERT_FILE": str(self.file), "SSL_CERT_DIR": str(self.folder / "none")}

    def serve(
        self, *hosts: str, until: datetime = END, self_signed: bool = False
    ) -> ssl.SSLContext:
        """Return a server's TLS with a certificate that is made out for hosts."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("a server")
        issuer = name if self_signed else _name(self.name)
        builder = _builder(name, issuer, key).not_valid_after(until)
        if hosts:
            names = x509.SubjectAlternativeName([_general(host) for host in hosts])
            builder = builder.add_extension(names, critical=False)
        signed = builder.sign(key if self_signed else self.key, hashes.SHA256())
        file = self.folder / f"{x509.random_serial_number()}.pem"
        private = key.private_bytes(
            PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        file.write_bytes(private + signed.public_bytes(PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder(issuer, subject, key.public_key())
    return builder.serial_number(x509.random_serial_number()).not_valid_before(START)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _general(host: str) -> x509.GeneralName:
    is_address = host.replace(".", "").isdecimal() or ":" in host
    return x509.IPAddress(ip_address(host)) if is_address else x509.DNSName(host)
