"""Keys of several lines or fields, in the wrappings in which people paste them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from tests.redaction.fakes.making import ALPHABETS, filled, jwe, some

PEM_NAMES = (
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "DSA PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
)

# Common words of the English BIP-39 list, enough for phrases.
SEED_WORDS = tuple(
    """
    abandon ability about above absent absorb abstract absurd abuse access accident account
    actor brave bread breeze brick bridge brief bright bring broccoli cabin cable cactus cage
    cake dawn deal debate decade decide deer degree elbow elder electric elegant element
    fabric face faculty fade faith garage garden garlic garment habit hair half hammer ice
    icon idea jacket jaguar kangaroo keen lab label ladder machine mad magic naive name narrow
    oak obey object pact paddle page quality quantum rabbit raccoon race sad saddle sadness
    table tackle tag ugly umbrella unable vacant vacuum vague wage wagon wait yard year zebra
    zero zone zoo
    """.split()  # noqa: SIM905
)

Wrapped = tuple[str, str, str]
"""Kind, the part that must be gone, and the text."""


def pem_lines(name: str, random: Random) -> list[str]:
    body = some(random, ALPHABETS["b64"], 64 * random.choice([3, 7, 25]) - 10) + "=="
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    return [f"-----BEGIN {name}-----", *lines, f"-----END {name}-----"]


def pem_wrappings(random: Random) -> Iterator[Wrapped]:
    for name in PEM_NAMES:
        lines = pem_lines(name, random)
        body = "".join(lines[1:-1])
        joined = "\n".join(lines)
        wrappings = {
            "plain": joined,
            "indented": "key: |\n" + "\n".join("    " + line for line in lines),
            "quoted": "\n".join("> " + line for line in lines),
            "json": json.dumps({"private_key": joined}),
            "json in json": json.dumps(json.dumps({"private_key": joined})),
            "crlf": "\r\n".join(lines),
            "one line": " ".join(lines),
            "without breaks": "".join(lines),
            "python": "KEY = (\n" + "\n".join(f'    "{line}\\n"' for line in lines) + "\n)",
            "javascript": " +\n".join(f"  '{line}\\n'" for line in lines),
            "html": "<br>".join(lines),
            "list": "\n".join(f"- {line}" for line in lines),
            "diff": "\n".join("+" + line for line in lines),
            "comment": "\n".join("# " + line for line in lines),
            "cut off": "\n".join(lines[:-1]) + "\n\nThat was all.",
            "without head": "\n".join(lines[1:]),
            "url encoded": joined.replace("\n", "%0A").replace(" ", "%20").replace("+", "%2B"),
            "env": "PRIVATE_KEY=" + "\\n".join(lines),
        }
        for wrapping, text in wrappings.items():
            encoded = body.replace("+", "%2B") if wrapping == "url encoded" else body
            yield f"pem {wrapping}", encoded, text


def jwks(random: Random) -> Iterator[Wrapped]:
    d, n = filled("{us43}", random), filled("{us342}", random)
    keys = [
        (d, {"kty": "OKP", "crv": "Ed25519", "x": filled("{us43}", random), "d": d}),
        (d, {"kty": "EC", "crv": "P-256", "d": d, "x": n[:43], "y": n[43:86], "kid": "a"}),
        (d, {"kty": "RSA", "n": n, "e": "AQAB", "d": d, "p": n[:170], "use": "sig"}),
        (d, {"kty": "oct", "k": d, "alg": "HS256"}),
        (d, {"alg": "HS256", "k": d, "kty": "oct"}),
    ]
    for secret, key in keys:
        yield "jwk", secret, json.dumps(key)
        yield "jwk", secret, json.dumps({"keys": [key]}, indent=2)
        yield "jwk", secret, json.dumps(json.dumps(key))


def phrases(random: Random) -> Iterator[Wrapped]:
    for count in (12, 15, 18, 24):
        words = random.choices(SEED_WORDS, k=count)
        plain = " ".join(words)
        lines = [f"{at}. {word}" for at, word in enumerate(words, 1)]
        yield "seed phrase", plain, f"Seed phrase: {plain}"
        yield "seed phrase", plain, f"my wallet: {plain}."
        yield "seed phrase", plain, plain
        yield "seed phrase", plain, f'MNEMONIC="{plain}"'
        yield "seed phrase", plain, f"恢复短语是 {plain}"
        yield "seed phrase", ", ".join(words), "recovery phrase: " + ", ".join(words)
        yield "seed phrase lines", "\n".join(lines[-3:]), "Recovery words\n" + "\n".join(lines)
        yield "seed phrase lines", "\n".join(words[-3:]), "mnemonic\n" + "\n".join(words)


def others(random: Random) -> Iterator[Wrapped]:
    secret = jwe(random)
    yield "jwe", secret, secret
    yield "jwe", secret, f"the encrypted token {secret} failed"
    yield "jwe", secret, f'{{"id_token": "{secret}"}}'
    lines = [filled("{b6464}", random) for _ in range(8)]
    yield (
        "putty",
        "".join(lines),
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: a\nPublic-Lines: 2\n"
        f"{filled('{b6464}', random)}\n{filled('{b6410}', random)}==\nPrivate-Lines: 8\n"
        + "\n".join(lines)
        + f"\nPrivate-MAC: {filled('{hex64}', random)}",
    )
    numbers = [str(random.randrange(256)) for _ in range(64)]
    for separator in (",", ", "):
        array = separator.join(numbers)
        yield "solana key", array, f"[{array}]"
    seed = filled("{b3232}", random)
    for text in (
        f"otpauth://totp/a?secret={seed}&issuer=b",
        f"TOTP secret: {seed}",
        f"2FA seed {seed}",
        f"authenticator key: {seed}",
        f"MFA-Schlüssel: {seed}",
    ):
        yield "totp seed", seed, text
    spaced = " ".join(seed[at : at + 4].lower() for at in range(0, 32, 4))
    yield "totp seed", spaced, f"2fa setup key: {spaced}"
    vault = "\n".join(filled("{d80}", random) for _ in range(5))
    yield "ansible vault", vault, f"$ANSIBLE_VAULT;1.1;AES256\n{vault}\n"
    key = filled("{b6442}0=", random)
    yield "wireguard", key, f"[Interface]\nPrivateKey = {key}\nAddress = 10.0.0.1/24"
    yield "wireguard", key, f"PresharedKey={key}"
    account = json.dumps(
        {"type": "service_account", "private_key_id": filled("{hex40}", random),
         "private_key": "\n".join(pem_lines("PRIVATE KEY", random)) + "\n"}
    )  # fmt: skip
    yield "service account", account.split("\\n")[1], account
    nt = filled("{hex32}", random)
    yield "ntlm hash", nt, f"Administrator:500:aad3b435b51404eeaad3b435b51404ee:{nt}:::"
    codes = [filled("{lo5}-{lo5}", random) for _ in range(6)]
    yield "recovery codes", codes[-1], "Recovery codes:\n" + "\n".join(codes)
    yield "recovery codes", codes[-1], "backup codes: " + ", ".join(codes)
    sk = filled("untrusted comment: minisign encrypted secret key\n«RWRTY0Iy{b64204}»", random)
    yield "minisign", sk[sk.index("«") + 1 : -1], sk.replace("«", "").replace("»", "")


def key_material(random: Random) -> Iterator[Wrapped]:
    for make in (pem_wrappings, jwks, phrases, others):
        yield from make(random)
