"""What is kept of an answer, unreadable without the key that lies beside the anchor.

An answer is in the file from its commit on, a moment before the anchor covers it. Whoever could read it there, take it
out and let its charge be resumed would have as many draws of one charge as they like.
"""

import base64
import hashlib
import json
import secrets
from typing import Any

FOR_ANSWERS = b"answers"
NONCE_BYTES = 16
LEAST_BYTES = 512


def veiled(body: dict[str, Any], key: bytes) -> str:
    """Claim: without the key it tells the next power of two above the length of what is said, and nothing else.

    The key and a nonce of its own make SHAKE-256 a keyed sponge: to whoever has no key its output is random. Nothing
    here tells whether the text was changed; the mark of the entry does.
    """
    said = json.dumps(body, separators=(",", ":")).encode()
    said = said.ljust(max(LEAST_BYTES, 1 << (len(said) - 1).bit_length()))
    nonce = secrets.token_bytes(NONCE_BYTES)
    return base64.b64encode(nonce + _under(said, key, nonce)).decode()


def unveiled(text: str, key: bytes) -> dict[str, Any]:
    """Needs: the key it was veiled with. Raises ValueError or TypeError where it was another."""
    raw = base64.b64decode(text, validate=True)
    body: dict[str, Any] = json.loads(_under(raw[NONCE_BYTES:], key, raw[:NONCE_BYTES]))
    return body


def _under(said: bytes, key: bytes, nonce: bytes) -> bytes:
    stream = hashlib.shake_256(key + FOR_ANSWERS + nonce).digest(len(said))
    return (int.from_bytes(said) ^ int.from_bytes(stream)).to_bytes(len(said))
