"""Marks: which entries were written by somebody who has the key.

Whoever can write the file of a ledger can add entries whose hashes are right. A mark is an HMAC of the hash that the
entry would have without it, so of all it says and of its place in the chain: none can be copied from elsewhere.
"""

import hmac
import re
from dataclasses import replace

from sfumato.ledger.data_key import keyed
from sfumato.ledger.entry import Entry

# First in the body, as a text: what is marked is to the letter what stands behind it.
WITH_MARK = re.compile(r'\{"mark":"([0-9a-f]{64})",')


def marked(entry: Entry, before: str, key: bytes) -> Entry:
    """The entry with its mark. Needs: one that follows the hash before, and says something."""
    body = f'{{"mark":"{_mark(entry, before, key)}",{entry.body[1:]}'
    return replace(entry, body=body, hash=replace(entry, body=body).expected_hash(before))


def is_marked(entry: Entry, before: str, key: bytes) -> bool:
    """Claim: False for what was written without the key, and for what was written elsewhere or says anything else."""
    found = WITH_MARK.match(entry.body) if isinstance(entry.body, str) else None
    if found is None:
        return False
    return hmac.compare_digest(found[1], _mark(replace(entry, body="{" + entry.body[found.end() :]), before, key))


def _mark(unmarked: Entry, before: str, key: bytes) -> str:
    return keyed(key, "entry", unmarked.expected_hash(before))
