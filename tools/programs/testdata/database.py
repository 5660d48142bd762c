"""Uses Python's sqlite3 module from several threads: functions, aggregates, backup, dump, blobs.

usage: database.py ROWS
"""

import hashlib
import sqlite3
import sys
import threading


def text_of(number):
    return hashlib.sha256(str(number).encode()).hexdigest()[: number % 61]


class Longest:
    """An aggregate: the longest text, the smallest of those when there are several."""

    def __init__(self):
        self.best = ""

    def step(self, text):
        self.best = min(self.best, text, key=lambda t: (-len(t), t))

    def finalize(self):
        return self.best


def connect(path):
    connection = sqlite3.connect(path, timeout=60)
    connection.create_function("mark", 2, lambda n, t: f"{n % 7}:{t[:5]}", deterministic=True)
    connection.create_aggregate("longest", 1, Longest)
    connection.create_collation("backwards", lambda a, b: (a[::-1] > b[::-1]) - (a[::-1] < b[::-1]))
    return connection


def fill(connection, rows):
    connection.execute("create table words (id integer primary key, word text, part integer)")
    connection.executemany(
        "insert into words values (?, ?, ?)", ((n, text_of(n), n % 13) for n in range(rows))
    )
    connection.execute("create index by_word on words (word)")
    connection.commit()


def query(path, part, answers):
    connection = connect(path)
    rows = connection.execute(
        "select mark(id, word), count(*), longest(word) from words where part = ? group by 1 order by 1",
        (part,),
    ).fetchall()
    backwards = connection.execute(
        "select word from words where part = ? order by word collate backwards, id limit 500", (part,)
    ).fetchall()
    connection.close()
    answers[part] = hashlib.sha256(repr((rows, backwards)).encode()).hexdigest()


def main():
    rows = int(sys.argv[1])
    connection = connect("words.db")
    fill(connection, rows)
    answers = {}
    threads = [threading.Thread(target=query, args=("words.db", p, answers)) for p in range(13)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for part in sorted(answers):
        print(part, answers[part])

    connection.execute("create table big (id integer primary key, data blob)")
    connection.execute("insert into big values (1, zeroblob(?))", (3_000_000,))
    with connection.blobopen("big", "data", 1) as blob:
        blob[1_000_000:1_000_026] = b"abcdefghijklmnopqrstuvwxyz"
    try:
        connection.execute("insert into words values (1, 'twice', 0)")
    except sqlite3.IntegrityError as error:
        print("refused:", error)
    connection.execute("delete from words where id % 3 = 1")
    connection.commit()
    dump = hashlib.sha256()
    for line in connection.iterdump():
        dump.update(line.encode())
    print("dump:", dump.hexdigest())
    target = sqlite3.connect("copy.db")
    connection.backup(target, pages=100)
    target.execute("vacuum")
    print("integrity:", target.execute("pragma integrity_check").fetchone()[0])
    target.close()
    connection.close()


main()
