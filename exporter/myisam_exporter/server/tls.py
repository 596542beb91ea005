"""TLS with a server: always with a verified certificate. What option files say of it is honoured, or refused by name; nothing is dropped.

Names are those of MySQL's and MariaDB's own clients (manuals, "Command Options for Encrypted Connections"; "Secure Connections Overview").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.server.option_files import Options

if TYPE_CHECKING:
    import ssl

MODES = ("DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY")
FILES = ("ssl-ca", "ssl-capath", "ssl-cert", "ssl-key", "ssl-crl", "ssl-crlpath")
HONOURED = frozenset({"ssl", "ssl-mode", "ssl-verify-server-cert", "ssl-cipher", "tls-version", *FILES})
VERSIONS = {"TLSV1.2": "TLSv1_2", "TLSV1.3": "TLSv1_3"}
BROKEN_VERSIONS = frozenset({"SSLV2", "SSLV3", "TLSV1", "TLSV1.0", "TLSV1.1"})
# Names of other kinds that say how a password may travel, and the value that is taken: what is done anyway.
OTHERS = {
    "secure-auth": True,
    "enable-cleartext-plugin": False,
    "get-server-public-key": False,
}
REFUSED = {
    "server-public-key-path": "a password is not encrypted with a key of the server's: name its authority's certificate (ssl-ca), or use its socket",
    "password2": "accounts with several passwords are not supported: give the advisor an account of its own (myisam-advisor grants)",
    "password3": "accounts with several passwords are not supported: give the advisor an account of its own (myisam-advisor grants)",
    "ssl-verify-server-cert": "certificates are always verified: name the certificate of the authority (ssl-ca), or take ssl-mode=VERIFY_CA where its name is another one",
}
_SWITCHES = ("skip-", "disable-", "enable-")
_OF_NAMES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
_ON, _OFF = frozenset({"", "1", "ON", "TRUE", "YES"}), frozenset({"0", "OFF", "FALSE", "NO"})


@dataclass(frozen=True, slots=True)
class Tls:
    """What is asked for: no TLS, or TLS with a certificate of this authority (the system's, where none is named) for this host's name."""

    wanted: bool = False
    verify_name: bool = True
    authority: str = ""
    authority_directory: str = ""
    certificate: str = ""
    key: str = ""
    revocations: str = ""
    revocation_directory: str = ""
    ciphers: str = ""
    minimum_version: str = "TLSv1_2"
    maximum_version: str = ""

    def context(self, *, has_name: bool = True) -> ssl.SSLContext:
        """A client's TLS context; `has_name` is False for a socket. Raises UserError that names a file which cannot be used."""
        import ssl

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # Strict since Python 3.13: what MySQL makes for itself at its first start would not pass.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        context.check_hostname = self.verify_name and has_name
        context.minimum_version = ssl.TLSVersion[self.minimum_version]
        if self.maximum_version:
            context.maximum_version = ssl.TLSVersion[self.maximum_version]
        try:
            self._load(context)
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            why = getattr(error, "strerror", None) or error
            raise UserError(
                f"the TLS options ({self._named()}) cannot be used: {why}. Check these files and who may read them."
            ) from None
        return context

    def _load(self, context: ssl.SSLContext) -> None:
        import ssl

        if self.authority or self.authority_directory:
            context.load_verify_locations(self.authority or None, self.authority_directory or None)
        else:
            context.load_default_certs()
        if self.revocations or self.revocation_directory:
            context.load_verify_locations(self.revocations or None, self.revocation_directory or None)
            context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
        if self.certificate:
            # A key with a passphrase would be asked for at the terminal: it is an error here.
            context.load_cert_chain(self.certificate, self.key or None, password=_no_passphrase)
        if self.ciphers:
            context.set_ciphers(self.ciphers)

    def _named(self) -> str:
        named = {
            "ssl-ca": self.authority, "ssl-capath": self.authority_directory, "ssl-cert": self.certificate, "ssl-key": self.key,
            "ssl-crl": self.revocations, "ssl-crlpath": self.revocation_directory, "ssl-cipher": self.ciphers,
        }  # fmt: skip
        return ", ".join(f"{name}={value}" for name, value in named.items() if value) or "the system's authorities"


def _no_passphrase() -> str:
    raise ValueError("the key has a passphrase, which nobody could give to a daemon")


def tls_from_options(options: Options, *, over_socket: bool) -> Tls:
    """What the option files ask for.

    Naming an authority, a certificate or a mode asks for TLS. The name in the certificate is verified too, but for ssl-mode=VERIFY_CA.
    Over the server's socket nothing is sent that these could protect. Raises UserError for an option that is not understood, contradicts
    another, or asks for less than verification.
    """
    said = _understood(options, over_socket=over_socket)
    mode = said.get("ssl-mode", "").upper()
    if mode and mode not in MODES:
        raise _refused(options, "ssl-mode", f"{mode!r} is none of {', '.join(MODES)}")
    switch = said.get("ssl")
    demanded = [name for name in ("ssl", "ssl-verify-server-cert") if said.get(name) == "1"]
    demanded += ["ssl-mode"] if mode in ("REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY") else []
    if mode == "DISABLED" or switch == "0":
        if demanded:
            other = "ssl-mode=DISABLED" if mode == "DISABLED" else "skip-ssl"
            raise _refused(options, demanded[0], f"{other} contradicts it: take one of them out")
        return Tls()
    least, most = _versions(options, said.get("tls-version", ""))
    return Tls(
        wanted=bool(demanded) or any(said.get(name) for name in FILES),
        verify_name=mode != "VERIFY_CA",
        authority=said.get("ssl-ca", ""),
        authority_directory=said.get("ssl-capath", ""),
        certificate=said.get("ssl-cert", ""),
        key=said.get("ssl-key", ""),
        revocations=said.get("ssl-crl", ""),
        revocation_directory=said.get("ssl-crlpath", ""),
        ciphers=said.get("ssl-cipher", ""),
        minimum_version=least,
        maximum_version=most,
    )


def _understood(options: Options, *, over_socket: bool) -> dict[str, str]:
    """The options that say how to travel, by their plain names, switches as "1" and "0"; all others of their kind are refused by name."""
    said: dict[str, str] = {}
    for written, setting in options.settings.items():
        is_loose = written.startswith("loose-")
        name, is_on = _plain(written.removeprefix("loose-"))
        if name in REFUSED and name not in HONOURED:
            raise _refused(options, written, REFUSED[name])
        if name in ("ssl", "ssl-verify-server-cert") or name in OTHERS:
            value = _switch(options, written, setting.value) == is_on
            if over_socket and (name in OTHERS or (name == "ssl-verify-server-cert" and not value)):
                continue  # what other clients of this file do over a network is their affair
            if name in OTHERS and value is not OTHERS[name]:
                raise _refused(
                    options,
                    written,
                    "passwords never travel in clear, by the old hash, or by a key that nobody verified",
                )
            if name == "ssl-verify-server-cert" and not value:
                raise _refused(options, written, REFUSED[name])
            said[name] = "1" if value else "0"
        elif name in HONOURED:
            said[name] = setting.value
        elif name.startswith(("ssl-", "tls-")) and not is_loose:
            raise _refused(options, written, f"it is not understood here; understood are {', '.join(sorted(HONOURED))}")
    return said


def _plain(written: str) -> tuple[str, bool]:
    """An option's name without a prefix that switches it, and whether that switches it on."""
    for prefix in _SWITCHES:
        name = written.removeprefix(prefix)
        if (
            name != written
            and written not in OTHERS
            and (name in HONOURED or name in OTHERS or name.startswith(("ssl-", "tls-")))
        ):
            return name, prefix == "enable-"
    return written, True


def _switch(options: Options, written: str, value: str) -> bool:
    if value.upper() in _ON:
        return True
    if value.upper() in _OFF:
        return False
    raise _refused(options, written, f"{value!r} is neither 1 nor 0")


def _versions(options: Options, text: str) -> tuple[str, str]:
    """The lowest and the highest version that were named; old ones are left out of a list that has a newer one."""
    names = [name.strip().upper() for name in text.split(",") if name.strip()]
    if not names:
        return "TLSv1_2", ""
    unknown = [name for name in names if name not in VERSIONS and name not in BROKEN_VERSIONS]
    known = sorted(VERSIONS[name] for name in names if name in VERSIONS)
    if unknown or not known:
        raise _refused(options, "tls-version", "TLSv1.2 and TLSv1.3 can be had, older ones are broken")
    return known[0], known[-1]


def _refused(options: Options, written: str, why: str) -> UserError:
    setting: Mapping[str, object] = options.settings
    # A line without = is a name as a whole: what stands behind the letters that a name may have can be a password.
    behind = written.lstrip(_OF_NAMES)
    told = f"{written.removesuffix(behind)} ..." if behind else written
    return UserError(f"{told} ({options.origin(written)}): {why}." if written in setting else f"{told}: {why}.")
