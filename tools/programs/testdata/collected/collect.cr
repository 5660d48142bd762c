# Fibers, channels, threads of C's, hash tables, strings, big arrays, finalizers, exceptions through fibers' stacks, and
# child processes.
require "json"

class Node
  getter left : Node?
  getter right : Node?

  def initialize(depth : Int32)
    if depth > 0
      @left = Node.new(depth - 1)
      @right = Node.new(depth - 1)
    end
  end

  def count : Int32
    1 + (@left.try &.count || 0) + (@right.try &.count || 0)
  end
end

class Watched
  @@gone = 0

  def self.gone
    @@gone
  end

  def initialize(@data : String)
  end

  def finalize
    @@gone += 1
  end
end

def deep(depth : Int32, node : Node) : Int32
  raise "bottom #{node.count}" if depth == 0
  deep(depth - 1, Node.new(2)) + node.count
end

def fibers(rounds : Int32)
  results = Channel(Tuple(Int32, Int32)).new(4)
  20.times do |number|
    spawn do
      kept = Node.new(6)
      sum = 0
      rounds.times do |round|
        sum += Node.new(number % 7).count
        Fiber.yield if round % 3 == 0
      end
      begin
        deep(50 + number, kept)
      rescue error
        sum += error.message.not_nil!.size
      end
      results.send({number, sum + kept.count})
    end
  end
  Array.new(20) { results.receive }.sort
end

def tables(rounds : Int32)
  words = Hash(String, Array(Int32)).new { |hash, key| hash[key] = [] of Int32 }
  (rounds * 500).times { |i| words["word #{i % 997}"] << i }
  words.keys.sort.first(5).map { |key| "#{key}: #{words[key].sum}" }
end

def threads
  threads = Array.new(4) do |number|
    Thread.new do
      tree = Node.new(10 + number % 2)
      text = String.build { |io| 2000.times { |i| io << i << ' ' } }
      raise "lost" unless tree.count == (1 << (11 + number % 2)) - 1 && text.size == 8890
    end
  end
  threads.each &.join
  threads.size
end

def finalizers
  3000.times { |i| Watched.new("some data #{i}") }
  3.times { GC.collect }
  Watched.gone > 2000
end

rounds = ARGV[0].to_i
kept = Node.new(14)
puts fibers(rounds)
puts tables(rounds)
puts threads
puts finalizers
text = {"numbers" => (0...rounds).to_a, "nested" => {"a" => ["b", "c" * 100]}}.to_json
rounds.times { raise "lost" unless JSON.parse(text).to_json == text }
puts text.size, `echo from a child`, kept.count
sorted = Array.new(rounds * 1000) { |i| (i % 10007 * 7919 % 10007).to_s }.sort
puts sorted[0], sorted[-1], sorted.size
