"""The older methods: they change a table, promise something about its groups, and are not differentially private.

    k_anonymity, mondrian            at least k rows share every combination of quasi-identifiers
    suppress, aggregate              leave out cells and rows of small groups; totals of large groups
    deidentify, pseudonyms           remove names, or replace them under a secret key
    additive_noise, multiplicative_noise, rotation, microaggregation, swapping       perturb values
    classify, verify, risk           what the columns are; the k, l and t of a table; who stands out
    discernibility, class_size, query_error          what is left of its use

Every method returns an AnonymisedTable, which names the attacks that break it.
"""

from sfumato.anonymise.full_domain import k_anonymity
from sfumato.anonymise.hierarchies import Hierarchy
from sfumato.anonymise.identify import deidentify, new_key, pseudonyms
from sfumato.anonymise.mondrian import mondrian
from sfumato.anonymise.perturb import additive_noise, microaggregation, multiplicative_noise, rotation, swapping
from sfumato.anonymise.result import AnonymisedTable, Lost
from sfumato.anonymise.risks import Risk, Uniqueness, risk
from sfumato.anonymise.roles import Suggestion, classify
from sfumato.anonymise.suppress import aggregate, suppress
from sfumato.anonymise.utility import QueryError, class_size, discernibility, query_error
from sfumato.anonymise.verify import Verified, verify

__all__ = [
    "AnonymisedTable",
    "Hierarchy",
    "Lost",
    "QueryError",
    "Risk",
    "Suggestion",
    "Uniqueness",
    "Verified",
    "additive_noise",
    "aggregate",
    "class_size",
    "classify",
    "deidentify",
    "discernibility",
    "k_anonymity",
    "microaggregation",
    "mondrian",
    "multiplicative_noise",
    "new_key",
    "pseudonyms",
    "query_error",
    "risk",
    "rotation",
    "suppress",
    "swapping",
    "verify",
]
