"""Generates the inputs that are too large for the repository: generate.py c|c++|sql|git SCALE_PERCENT

Everything goes to standard output and is the same on every machine.
"""

import sys


class Random:
    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % limit


def expression(random, depth, names):
    if depth == 0 or random.below(5) == 0:
        return names[random.below(len(names))] if random.below(3) else str(random.below(1000))
    sign = ["+", "-", "*", "^", "|", "&"][random.below(6)]
    return f"({expression(random, depth - 1, names)} {sign} {expression(random, depth - 1, names)})"


def c_function(random, number):
    names = ["a", "b", "c", "d"]
    lines = [f"unsigned work_{number}(unsigned a, unsigned b, unsigned *table) {{", "  unsigned c = 1, d = 2;"]
    for _ in range(8):
        kind = random.below(4)
        target = names[random.below(4)]
        value = expression(random, 3, names)
        if kind == 0:
            lines.append(f"  {target} = {value};")
        elif kind == 1:
            lines.append(f"  if ({value} > {random.below(500)}u) {target} += {expression(random, 2, names)};")
        elif kind == 2:
            lines.append(f"  for (unsigned i = 0; i < a % 16; i++) {target} += table[i & 63] * {random.below(90)};")
        else:
            lines.append(f"  switch ({target} & 3) {{ case 0: c = {value}; break; case 1: d ^= a; break; "
                         f"default: table[b & 63] = {target}; }}")
    if number > 0:
        lines.append(f"  if (d & 1) a += work_{random.below(number)}(b, c, table);")
    lines += ["  return a ^ b ^ c ^ d;", "}", ""]
    return lines


def generate_c(scale, random):
    for number in range(max(1, 150 * scale // 100)):
        print("\n".join(c_function(random, number)))


def generate_cpp(scale, random):
    print("#include <algorithm>\n#include <functional>\n#include <map>\n#include <memory>\n#include <string>\n"
          "#include <vector>\n")
    for number in range(max(1, 4 * scale // 100)):
        print(f"""struct Item{number} {{
  std::string name;
  std::vector<int> values;
  std::map<std::string, std::shared_ptr<Item{number}>> children;
  bool operator<(const Item{number} &other) const {{ return name < other.name; }}
}};
std::size_t use_{number}(std::vector<Item{number}> items) {{
  std::sort(items.begin(), items.end());
  std::map<int, std::vector<Item{number}>> groups;
  for (auto &item : items) groups[static_cast<int>(item.values.size()) % {random.below(9) + 2}].push_back(item);
  std::function<std::size_t(const Item{number} &)> size = [&](const Item{number} &item) {{
    std::size_t sum = item.name.size() + {random.below(100)};
    for (auto &child : item.children) sum += size(*child.second);
    return sum;
  }};
  std::size_t total = 0;
  for (auto &group : groups) for (auto &item : group.second) total += size(item);
  return total;
}}
""")


def generate_sql(scale, random):
    rows = 700 * scale
    print(f"""PRAGMA cache_size = 20000;
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER, amount INTEGER, note TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows // 10})
  INSERT INTO customer SELECT i, 'customer ' || (i * 7919 % {rows}), 'city ' || (i * 31 % 97) FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
  INSERT INTO purchase SELECT i, i * 104729 % {rows // 10} + 1, i * 37 % 1000, 'note ' || (i * i % 1009) FROM n;
CREATE INDEX by_customer ON purchase (customer);
CREATE INDEX by_city ON customer (city);
SELECT city, count(*), sum(amount), max(note) FROM customer JOIN purchase ON customer.id = purchase.customer
  GROUP BY city ORDER BY sum(amount) DESC, city LIMIT 10;
SELECT note, group_concat(amount) FROM (SELECT note, amount FROM purchase ORDER BY id) GROUP BY note LIMIT 5;
SELECT count(*) FROM (SELECT DISTINCT name || note FROM customer JOIN purchase ON customer.id = purchase.customer);
UPDATE purchase SET note = note || ' checked' WHERE amount > 500;
DELETE FROM purchase WHERE id % 3 = 0;
SELECT length(json_group_array(json_object('id', id, 'note', note))) FROM purchase;""")
    for _ in range(12 * scale):
        print(f"SELECT name, upper(note), amount FROM customer JOIN purchase ON customer.id = purchase.customer "
              f"WHERE customer.id = {random.below(rows // 10) + 1} ORDER BY note, purchase.id LIMIT 3;")


def generate_git(scale, random):
    files = {}
    for commit in range(max(3, 5 * scale // 2)):
        stream = [f"commit refs/heads/main\nmark :{commit + 1}\n"
                  f"committer Ada <ada@example.org> {1700000000 + commit * 1000} +0000\n"]
        message = f"Change number {commit}\n\nBecause of {random.below(1000)}.\n"
        stream.append(f"data {len(message)}\n{message}\n")
        for _ in range(3):
            name = f"part{random.below(12)}/file{random.below(15)}.txt"
            lines = files.setdefault(name, [f"line {random.below(10**6)} of {name}" for _ in range(300)])
            for _ in range(8):
                lines[random.below(len(lines))] = f"changed in {commit}: {random.below(10**9)}"
            lines.insert(random.below(len(lines)), f"new in {commit}")
            text = "\n".join(lines) + "\n"
            stream.append(f"M 100644 inline {name}\ndata {len(text)}\n{text}\n")
        sys.stdout.write("".join(stream))


def main():
    kinds = {"c": generate_c, "c++": generate_cpp, "sql": generate_sql, "git": generate_git}
    if len(sys.argv) != 3 or sys.argv[1] not in kinds:
        sys.exit("usage: generate.py c|c++|sql|git SCALE_PERCENT")
    kinds[sys.argv[1]](int(sys.argv[2]), Random(2))


main()
