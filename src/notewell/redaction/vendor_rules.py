"""The token formats of vendors, as their documentation gives them.

Lengths are lower bounds unless a vendor promises a fixed length: tokens become longer over the
years, and a mask that covers too much does less harm than one that covers too little.
A short or common prefix (`pa-`, `s.`, `cio`) proves little, so its rule has `proof="random"`.
"""

from __future__ import annotations

from notewell.redaction.vendors_ai import MODELS
from notewell.redaction.vendors_build import CLOUDS, CODE_HOSTING
from notewell.redaction.vendors_messages import MESSAGING, PAYMENT
from notewell.redaction.vendors_more import (
    MORE_BUILDS,
    MORE_MESSAGES,
    MORE_MODELS,
    MORE_MONITORING,
    MORE_PAYMENTS,
    MORE_WORK,
)
from notewell.redaction.vendors_work import MAPS_AND_CHAINS, MONITORING, PRODUCTIVITY

SOURCES = (
    "the documentation of the vendors",
    "https://github.com/gitleaks/gitleaks",
    "https://github.com/trufflesecurity/trufflehog",
    "https://github.com/mongodb/kingfisher",
    "https://github.com/praetorian-inc/noseyparker",
    "https://docs.github.com/en/code-security/reference/secret-security/supported-secret-scanning-patterns",
)
"""Where prefixes, alphabets and lengths come from. These are facts; the patterns are our own."""

VENDOR_GROUPS = {
    "clouds and databases": CLOUDS,
    "code hosting, builds, packages, identity": (*CODE_HOSTING, *MORE_BUILDS),
    "models and AI services": (*MODELS, *MORE_MODELS),
    "messages and webhooks": (*MESSAGING, *MORE_MESSAGES),
    "payments and shipping": (*PAYMENT, *MORE_PAYMENTS),
    "office, design, customers": (*PRODUCTIVITY, *MORE_WORK),
    "maps, chains and games": MAPS_AND_CHAINS,
    "monitoring and feature flags": (*MONITORING, *MORE_MONITORING),
}

VENDOR_RULES = tuple(rule for group in VENDOR_GROUPS.values() for rule in group)
