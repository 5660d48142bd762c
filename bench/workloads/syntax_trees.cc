// syntax_trees: expressions are parsed into trees of polymorphic nodes, simplified, printed and
// dropped.
//
// Models a compiler's front end: nodes of five sizes behind unique_ptr, names in strings, passes
// that replace subtrees; a function's tree lives until the whole unit is done. The figure is
// allocation with pointer chasing.
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench.h"

namespace {

struct Expression {
  virtual ~Expression() = default;
  virtual void print(std::string &out) const = 0;
  // Returns what to put in place of this, or null to keep it.
  virtual std::unique_ptr<Expression> simplify() = 0;
  virtual const long *constant() const { return nullptr; }
};

using Tree = std::unique_ptr<Expression>;

void simplify_in_place(Tree &tree) {
  if (Tree simpler = tree->simplify()) tree = std::move(simpler);
}

struct Constant : Expression {
  long value;
  explicit Constant(long number) : value(number) {}
  void print(std::string &out) const override { out += std::to_string(value); }
  Tree simplify() override { return nullptr; }
  const long *constant() const override { return &value; }
};

struct Variable : Expression {
  std::string name;
  explicit Variable(std::string text) : name(std::move(text)) {}
  void print(std::string &out) const override { out += name; }
  Tree simplify() override { return nullptr; }
};

struct Binary : Expression {
  char sign;
  Tree left, right;
  Binary(char s, Tree l, Tree r) : sign(s), left(std::move(l)), right(std::move(r)) {}
  void print(std::string &out) const override {
    out += '(';
    left->print(out);
    out += sign;
    right->print(out);
    out += ')';
  }
  Tree simplify() override {
    simplify_in_place(left);
    simplify_in_place(right);
    const long *a = left->constant(), *b = right->constant();
    if (a && b)
      return std::make_unique<Constant>(sign == '+' ? (*a + *b) % 100000 : (*a * *b) % 100000);
    if (sign == '*' && ((a && *a == 0) || (b && *b == 0))) return std::make_unique<Constant>(0);
    if (sign == '+' && b && *b == 0) return std::move(left);
    return nullptr;
  }
};

struct Call : Expression {
  std::string name;
  std::vector<Tree> arguments;
  void print(std::string &out) const override {
    out += name;
    out += '(';
    for (const Tree &argument : arguments) {
      argument->print(out);
      out += ',';
    }
    out += ')';
  }
  Tree simplify() override {
    for (Tree &argument : arguments) simplify_in_place(argument);
    return nullptr;
  }
};

struct Parser {
  bench_random random;

  Tree parse(int depth) {
    uint32_t choice = bench_below(&random, 10);
    if (depth == 0 || choice == 0) {
      if (bench_below(&random, 2) == 0) return std::make_unique<Constant>(bench_below(&random, 4));
      return std::make_unique<Variable>("local_variable_" +
                                        std::to_string(bench_below(&random, 500)));
    }
    if (choice == 1) {
      auto call = std::make_unique<Call>();
      call->name = "function_" + std::to_string(bench_below(&random, 100));
      for (uint32_t i = bench_below(&random, 5); i > 0; i--)
        call->arguments.push_back(parse(depth - 1));
      return call;
    }
    Tree left = parse(depth - 1);
    return std::make_unique<Binary>(choice % 2 ? '+' : '*', std::move(left), parse(depth - 1));
  }
};

uint64_t compile_unit(Parser &parser, int functions) {
  std::unordered_map<std::string, Tree> unit;
  uint64_t sum = 0;
  for (int i = 0; i < functions; i++) unit["function_" + std::to_string(i)] = parser.parse(9);
  for (int i = 0; i < functions; i++) {
    Tree &tree = unit["function_" + std::to_string(i)];
    simplify_in_place(tree);
    std::string text;
    tree->print(text);
    for (char letter : text) sum = sum * 31 + (unsigned char)letter;
  }
  return sum;
}

} // namespace

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  Parser parser{bench_seed(31)};
  long units = bench_scaled(&bench, 90, 1);
  uint64_t checksum = 0;
  for (long i = 0; i < units; i++) checksum += compile_unit(parser, 120);
  bench_finish(&bench, checksum);
  return 0;
}
