#!/usr/bin/env python3
"""Reads real text, indexes it, and prints what is in it.

    words.py [FILE-OR-DIRECTORY ...]

Without arguments it reads the licences in /usr/share/common-licenses, Python's own library
and the documents beside this example. It makes a concordance (where each word stands), the
most frequent words and pairs of words, the words that are typical of a document, and groups
of anagrams. The program exists to be run on Granary:

    granary run -- python3 examples/python/words.py

The work is that of a search engine in small: millions of short strings, lists that grow,
dictionaries that are rebuilt, and whole structures that are dropped at once.
"""

import collections
import math
import os
import re
import sys
import time
import zlib

WORD = re.compile(r"[^\W\d_]{2,}")
SUFFIXES = (".py", ".md", ".txt", ".rst", "")
BYTES_MAX = 6 << 20  # enough work for a few seconds


def default_places():
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    library = os.path.dirname(os.__file__)
    places = ["/usr/share/common-licenses", os.path.join(root, "docs"), library]
    return [place for place in places if os.path.isdir(place)]


def find_files(places):
    """Yields the text files in the places, in an order that is the same every time."""
    for place in places:
        if not os.path.isdir(place):
            yield place
            continue
        for directory, below, names in os.walk(place):
            below[:] = sorted(name for name in below
                              if name not in ("test", "tests", "site-packages", "__pycache__"))
            for name in sorted(names):
                path = os.path.join(directory, name)
                if os.path.splitext(name)[1] in SUFFIXES and not os.path.islink(path):
                    yield path


def read_texts(paths):
    """Yields (path, text) until BYTES_MAX have been read."""
    left = BYTES_MAX
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except UnicodeDecodeError:
            continue  # not a text
        except OSError as error:
            sys.exit(f"words.py: {path}: {error.strerror}")
        left -= len(text)
        yield path, text
        if left <= 0:
            return


class Index:
    """Where every word stands: word -> document -> positions."""

    def __init__(self):
        self.names = []
        self.lengths = []
        self.postings = collections.defaultdict(lambda: collections.defaultdict(list))
        self.pairs = collections.Counter()
        self.bytes = 0
        self.packed = 0

    def add(self, name, text):
        document = len(self.names)
        words = [word.lower() for word in WORD.findall(text)]
        self.names.append(name)
        self.lengths.append(len(words))
        self.bytes += len(text)
        self.packed += len(zlib.compress(text.encode(), 6))
        for position, word in enumerate(words):
            self.postings[word][document].append(position)
        self.pairs.update(first + " " + second for first, second in zip(words, words[1:]))

    def most_frequent(self, count):
        totals = ((sum(map(len, places.values())), word) for word, places in self.postings.items())
        return sorted(totals, key=lambda item: (-item[0], item[1]))[:count]

    def typical(self, document, count):
        """The words that this document has more of than the others: tf-idf."""
        scores = []
        for word, places in self.postings.items():
            if document in places:
                rarity = math.log(len(self.names) / len(places))
                scores.append((-len(places[document]) * rarity, word))
        return [word for _, word in sorted(scores)[:count]]

    def phrase(self, text):
        """Counts a phrase by walking the positions of its words."""
        words = text.lower().split()
        found = 0
        for document, positions in self.postings.get(words[0], {}).items():
            others = [set(self.postings.get(word, {}).get(document, ())) for word in words[1:]]
            found += sum(all(position + offset in places
                             for offset, places in enumerate(others, start=1))
                         for position in positions)
        return found

    def anagrams(self, count):
        groups = collections.defaultdict(list)
        for word in self.postings:
            if len(word) > 5 and word.isascii():
                groups["".join(sorted(word))].append(word)
        larger = [sorted(group) for group in groups.values() if len(group) > 1]
        return sorted(larger, key=lambda group: (-len(group), -len(group[0]), group))[:count]


def show(title, rows):
    print(f"\n{title}")
    for row in rows:
        print("   ", row)


def main(places):
    start = time.monotonic()
    index = Index()
    for path, text in read_texts(find_files(places or default_places())):
        index.add(path, text)
    if not any(index.lengths):
        sys.exit("words.py: there is no text to read; name files or directories")
    total = sum(index.lengths)
    print(f"{len(index.names)} documents, {index.bytes:,} characters "
          f"({index.packed:,} bytes compressed), {total:,} words, "
          f"{len(index.postings):,} different, {len(index.pairs):,} different pairs")
    show("Most frequent words", (f"{count:8,}  {word}" for count, word in index.most_frequent(8)))
    show("Most frequent pairs", (f"{count:8,}  {pair}" for pair, count in sorted(
        index.pairs.items(), key=lambda item: (-item[1], item[0]))[:8]))
    longest = sorted(range(len(index.names)), key=lambda d: (-index.lengths[d], index.names[d]))[:6]
    show("Longest documents and their typical words", (
        f"{os.path.basename(index.names[document])}: {', '.join(index.typical(document, 6))}"
        for document in longest))
    show("Phrases", (f"{index.phrase(phrase):8,}  {phrase}" for phrase in (
        "the terms of", "if not", "return none", "free software", "memory")))
    show("Anagrams", (", ".join(group) for group in index.anagrams(5)))
    print(f"\n{time.monotonic() - start:.2f} s", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
