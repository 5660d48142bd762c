"""What CPython is given to do: words are counted, JSON is built and parsed, objects come and go.

Call: words.py SCALE_PERCENT. Prints a line with sums that depend on every step.
"""

import json
import re
import sys
import zlib


class Random:
    """The same numbers on every version of Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % limit


class Visit:
    def __init__(self, number, path, tags):
        self.number = number
        self.path = path
        self.tags = tags
        self.next = None


def make_text(random, words):
    syllables = ["ka", "lo", "mi", "ten", "sur", "pra", "vel", "dor", "in", "os", "qua", "bri"]
    vocabulary = ["".join(syllables[random.below(12)] for _ in range(1 + random.below(5)))
                  for _ in range(4000)]
    return " ".join(vocabulary[random.below(4000)] for _ in range(words))


def count_words(text):
    counts = {}
    for word in re.findall(r"[a-z]+", text):
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def documents(random, ranking, count):
    total = 0
    for number in range(count):
        document = {
            "id": number,
            "words": [ranking[random.below(len(ranking))][0] for _ in range(60)],
            "nested": {
                str(key): {"value": key * 1.5, "text": "x" * random.below(300)} for key in range(12)
            },
        }
        text = json.dumps(document, sort_keys=True)
        total += zlib.crc32(text.encode()) + len(json.loads(text)["nested"])
    return total


def visits(random, count):
    recent = [None] * 5000
    total = 0
    for number in range(count):
        visit = Visit(number, f"/path/{random.below(1000)}/{number}", (number % 7, str(number)))
        slot = random.below(5000)
        visit.next = recent[slot] if number % 3 else None
        recent[slot] = visit
        total += len(visit.path) + (visit.next.number % 11 if visit.next else 0)
        if visit.next:
            visit.next.next = None
    return total


def main():
    scale = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    random = Random(1)
    text = make_text(random, 1200 * scale)
    ranking = count_words(text)
    total = documents(random, ranking, 18 * scale) + visits(random, 1700 * scale)
    print(len(text), ranking[0], total)


main()
