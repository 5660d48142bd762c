"""Generates the inputs that are too large for the repository.

Call: generate.py c|c++|sql|git SCALE_PERCENT. Everything goes to standard output and is the same on
every machine.
"""

import sys


class Random:
    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % limit


NAMES = ["a", "b", "c", "d"]


def expression(random, depth):
    if depth == 0 or random.below(5) == 0:
        return NAMES[random.below(4)] if random.below(3) else str(random.below(1000))
    left, right = expression(random, depth - 1), expression(random, depth - 1)
    return f"({left} {'+-*^|&'[random.below(6)]} {right})"


def statement(random):
    kind, target, value = random.below(4), NAMES[random.below(4)], expression(random, 3)
    number = random.below(500)
    if kind == 0:
        return f"{target} = {value};"
    if kind == 1:
        return f"if ({value} > {number}u) {target} += {expression(random, 2)};"
    if kind == 2:
        return f"for (unsigned i = 0; i < a % 16; i++) {target} += table[i & 63] * {number};"
    return (f"switch ({target} & 3) {{ case 0: c = {value}; break; case 1: d ^= a; break; "
            f"default: table[b & 63] = {target}; }}")


def generate_c(scale, random):
    for number in range(max(1, scale)):
        print(f"unsigned work_{number}(unsigned a, unsigned b, unsigned *table) {{")
        print("  unsigned c = 1, d = 2;")
        for _ in range(8):
            print("  " + statement(random))
        if number > 0:
            print(f"  if (d & 1) a += work_{random.below(number)}(b, c, table);")
        print("  return a ^ b ^ c ^ d;\n}\n")


CPP_HEAD = """#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>
"""

CPP_UNIT = """
struct ItemN {
  std::string name;
  std::vector<int> values;
  std::map<std::string, std::shared_ptr<ItemN>> children;
  bool operator<(const ItemN &other) const { return name < other.name; }
  std::size_t size() const {
    std::size_t sum = name.size() + NUMBER;
    for (auto &child : children) sum += child.second->size();
    return sum;
  }
};
std::size_t use_N(std::vector<ItemN> items) {
  std::sort(items.begin(), items.end());
  std::map<std::size_t, std::vector<ItemN>> groups;
  for (auto &item : items) groups[item.values.size() % NUMBER].push_back(item);
  std::size_t total = 0;
  for (auto &group : groups)
    for (auto &item : group.second) total += item.size();
  return total;
}
"""


def generate_cpp(scale, random):
    print(CPP_HEAD)
    for number in range(max(1, 6 * scale // 100)):
        unit = CPP_UNIT.replace("NUMBER", str(2 + random.below(90)))
        print(unit.replace("ItemN", f"Item{number}").replace("use_N", f"use_{number}"))


SQL_HEAD = """PRAGMA cache_size = 20000;
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER, amount INTEGER, note TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CUSTOMERS)
  INSERT INTO customer SELECT i, 'customer ' || (i * 7919 % PURCHASES), 'city ' || (i * 31 % 97)
  FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < PURCHASES)
  INSERT INTO purchase
  SELECT i, i * 104729 % CUSTOMERS + 1, i * 37 % 1000, 'note ' || (i * i % 1009) FROM n;
CREATE INDEX by_customer ON purchase (customer);
CREATE INDEX by_city ON customer (city);
CREATE VIEW sale AS
  SELECT * FROM customer JOIN purchase ON customer.id = purchase.customer;
SELECT city, count(*), sum(amount), max(note) FROM sale
  GROUP BY city ORDER BY sum(amount) DESC, city LIMIT 10;
SELECT note, group_concat(amount) FROM (SELECT note, amount FROM purchase ORDER BY id)
  GROUP BY note LIMIT 5;
SELECT count(*) FROM (SELECT DISTINCT name || note FROM sale);
UPDATE purchase SET note = note || ' checked' WHERE amount > 500;
DELETE FROM purchase WHERE id % 3 = 0;
SELECT length(json_group_array(json_object('id', id, 'note', note))) FROM purchase;
"""


def generate_sql(scale, random):
    purchases = 700 * scale
    customers = purchases // 10
    head = SQL_HEAD.replace("CUSTOMERS", str(customers)).replace("PURCHASES", str(purchases))
    print(head)
    for _ in range(12 * scale):
        customer = random.below(customers) + 1
        print(f"SELECT name, upper(note), amount FROM sale WHERE customer = {customer}"
              " ORDER BY note, amount LIMIT 3;")


def change(random, lines, commit):
    for _ in range(8):
        lines[random.below(len(lines))] = f"changed in {commit}: {random.below(10**9)}"
    lines.insert(random.below(len(lines)), f"new in {commit}")


def generate_git(scale, random):
    """A stream for git fast-import: commits that each change three files of some 300 lines."""
    files = {}
    for commit in range(max(3, 7 * scale)):
        message = f"Change number {commit}\n\nBecause of {random.below(1000)}.\n"
        print(f"commit refs/heads/main\nmark :{commit + 1}\n"
              f"committer Ada <ada@example.org> {1700000000 + commit * 1000} +0000\n"
              f"data {len(message)}\n{message}")
        for _ in range(3):
            name = f"part{random.below(12)}/file{random.below(15)}.txt"
            if name not in files:
                files[name] = [f"line {random.below(10**6)} of {name}" for _ in range(300)]
            change(random, files[name], commit)
            text = "\n".join(files[name]) + "\n"
            print(f"M 100644 inline {name}\ndata {len(text)}\n{text}")


def main():
    kinds = {"c": generate_c, "c++": generate_cpp, "sql": generate_sql, "git": generate_git}
    if len(sys.argv) != 3 or sys.argv[1] not in kinds:
        sys.exit("usage: generate.py c|c++|sql|git SCALE_PERCENT")
    kinds[sys.argv[1]](int(sys.argv[2]), Random(2))


main()
