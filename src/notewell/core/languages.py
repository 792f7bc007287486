"""Which language a text in Latin letters is written in, by its commonest words.

Only the keyword index needs it, to choose a stemmer, and it may be wrong: a question is stemmed in
every language that the index has, so that a word of a chunk always finds itself. English is the
answer for whatever is not clearly another language: code, names, a line of two words.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

# As they are written, in lower case. A word may be in several lists: most hits win.
_COMMON_WORDS = {
    "en": """the of and to in is was for that it on as with by he i you at from are this be have
        not or an but they his her she we will would can if there which when what their all been
        has had were my your our do did so no about out up who just like get one import def self
        return else true false none new use add file set run""",
    "cs": """je se na že to jsem jako ale jsou bylo byl byla nebo pro při také který která které
        už ještě jen když aby má jsme jeho podle mezi však tak""",
    "da": """og i at er en det til af som på de med der ikke den for et har jeg om vi var han men
        fra kan skal ved også eller blev være efter når""",
    "de": """der die und das den von zu mit sich des auf für ist im dem nicht ein eine als auch es
        an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so
        zum war haben nur oder aber vor zur bis mehr durch man wir ich""",
    "es": """de la que el en y los del se las por un para con una su al lo como más pero sus le ya
        o este sí porque esta entre cuando muy sin sobre también me hasta hay donde quien desde
        todo nos durante está fue son es era ha""",
    "fi": """ja on ei se että hän oli joka ovat mutta kun myös tai sen olla niin kuin jos ole vain
        mitä jo sekä hänen siitä voi minun""",
    "fr": """de la le et les des en un du une est que pour qui dans par plus pas au sur ne se ce
        il sont avec son aux ou cette mais sa être ont leur nous vous elle je été fait comme était
        ces deux""",
    "hu": """a az és hogy nem is egy volt meg ez csak mint már azt még el vagy de ki lehet kell
        után ezt majd nagyon minden""",
    "it": """di e il la che in un è per una sono con non del si da le dei al della ha come più lo
        anche ma nel alla gli i delle o nella questo questa suo essere stato era""",
    "nl": """de het een en van in is dat op te zijn met voor niet aan er om ook als dan maar door
        over bij wordt uit naar heeft werd ze hij ik nog deze tot geen je wij we""",
    "no": """og i det er som på til av en for med at har ikke de et den var om fra han men jeg kan
        vi ble eller etter også skal være blir når""",
    "pl": """w i na się z nie do to że jest o jak po co ale od za przez jego być są który która
        dla tak tym oraz był była lub czy już tylko też""",
    "pt": """de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele
        das à seu sua ou quando muito nos já eu também só pelo pela até isso ela são foi está""",
    "ro": """și în de la a cu nu pe că este o din se un să care mai au pentru sunt fost dar ce prin
        ca lui sau după fi această acest""",
    "sv": """och i att det som en på är av för med till den har de inte om ett han men var jag sig
        från vi så kan när efter också eller ska vara hade""",
    "tr": """ve bir bu da de için ile çok olarak daha olan gibi ne kadar ama o en sonra var değil
        mi her ya göre oldu ise""",
}
ENGLISH = "en"
LANGUAGES = tuple(language for language in _COMMON_WORDS if language != ENGLISH)

LEAST_WORDS = 2
"""So many different common words of a language say something; one is a name or a loan word."""
LEAST_SHARE = 0.08
"""Of all words: code and lists of names have fewer. In a text of a language it is .3 to .5."""
LEAST_LINE_SHARE = 0.25
"""A line is short, and two words of it may be names: of 28 000 lines of English conversations, two
are taken for another language."""


@cache
def _latin_words() -> re.Pattern[str]:
    """Compiled for the first text that is indexed: a search needs no language."""
    # From two letters: single ones are names of variables as often as words.
    return re.compile(r"[a-zà-öø-ÿāăąćčďđęěğıłńňőřśşšťůűźżžșț]{2,}")


@cache
def _languages_by_word() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for language, words in _COMMON_WORDS.items():
        for word in set(words.split()):
            found.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in found.items()}


def language_of(text: str) -> str:
    """The language of a text in Latin letters, `en` if it is not clearly another."""
    return _guess(text, LEAST_SHARE) or ENGLISH


def line_language(line: str) -> str | None:
    """The language of a single line, which may be another than that of the lines around it; None
    if it is not clear."""
    return _guess(line, LEAST_LINE_SHARE)


def _guess(text: str, least_share: float) -> str | None:
    words = Counter(_latin_words().findall(text.lower()))
    known = _languages_by_word()
    hits, distinct = Counter[str](), Counter[str]()
    for word in words.keys() & known.keys():
        for language in known[word]:
            hits[language] += words[word]
            distinct[language] += 1
    # Of equal ones English, then the first by name: the same text has the same language in every
    # process.
    best = max(
        _COMMON_WORDS,
        key=lambda language: (hits[language], language == ENGLISH, distinct[language], language),
    )
    is_clear = distinct[best] >= LEAST_WORDS and hits[best] >= least_share * words.total()
    return best if is_clear else None


def marker(language: str) -> str:
    """The word that says that a chunk is in this language; no word of a text has a dot."""
    return f"{language}·"
