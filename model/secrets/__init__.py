"""Made-up texts with and without secrets, to train and to measure what recognises secrets.

    texts.py                        START HERE: `generated(seed)` yields all texts of a seed
    people_texts.py, people/        how people write: notes, mails, chats, in 38 languages
    technical_texts.py, technical/  configuration, code, commands, logs; technical_values.py
    marks.py                        the language of the templates: `‹filler›`, `⟦secret⟧`

A template is a line of a text file; `fillers.txt`, `words.txt` and the like have the values that
are drawn into them. All values are drawn at random, so that no text holds anybody's secret.
"""
