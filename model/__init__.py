"""How the bilingual model that Notewell ships was made, from public texts to its weights.

Not part of the installed package: see README.md in this folder.
"""
