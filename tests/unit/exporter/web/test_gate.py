"""TLS of a running daemon: what a changed file of the web configuration may change, and what it may not."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from myisam_exporter.errors import UserError
from myisam_exporter.web.gate import Gate

TLS = "tls_server_config: {cert_file: certificate.pem, key_file: key.pem}\n"


def make_certificate(folder: Path) -> None:
    """One of its own, and its key."""
    key, name, now = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")]), datetime.now(timezone.utc)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now).not_valid_after(now + timedelta(days=1)).sign(key, hashes.SHA256())
    )  # fmt: skip
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))


@pytest.mark.parametrize(("before", "after"), [(TLS, "{}\n"), ("{}\n", TLS)])
def test_tls_is_neither_switched_off_nor_on_while_it_runs(tmp_path: Path, before: str, after: str) -> None:
    make_certificate(tmp_path)
    path = tmp_path / "web.yaml"
    path.write_text(before)
    gate = Gate(path)
    spoken = gate.tls()
    path.write_text(after)
    assert gate.tls() is spoken
    with pytest.raises(UserError, match="TLS cannot be switched on or off while running"):
        gate.reload()
    assert gate.settings.tls is spoken
    assert (spoken is None) == (before != TLS)


def test_connections_outlive_a_reload_but_not_another_certificate(tmp_path: Path) -> None:
    make_certificate(tmp_path)
    path = tmp_path / "web.yaml"
    path.write_text(TLS)
    gate = Gate(path)
    spoken = gate.tls()
    path.write_text(f"{TLS}rate_limit: {{interval: 1s, burst: 5}}\n")
    assert gate.tls() is spoken
    assert gate.settings.burst == 5
    make_certificate(tmp_path)
    gate.reload()
    assert gate.tls() is not spoken
