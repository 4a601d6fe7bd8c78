"""The scenes of `sfumato demo`, in the order they are played.

    files       the folder of the demo and its policy
    stage       titles, sentences, tables and pauses on the screen
    town        1  the town
    release     2  the table without names, and the names that come back
    totals      3  two totals, and one salary
    private     4  the same questions, privately
    answers     5  quartiles, a histogram, and groups that nobody declared
    budget      6  asking again, and what the ledger notices
    model       7  a model of everybody, and how good it is
    synthetic   8  a table of nobody, and what asking knows better
    trustless   9  the same without anybody to trust
    places      10 about where a phone is
    report      11 one page to keep
    copies      copies of the ledger, to be forged
    words       amounts of money in words

A scene shows what it does and returns what it found; nothing shown is known before the run.
"""
