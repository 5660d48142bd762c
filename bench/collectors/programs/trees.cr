# Trees, hash tables, strings and fibers.
class Node
  def initialize(depth : Int32)
    @left = depth > 0 ? Node.new(depth - 1) : nil.as(Node?)
    @right = depth > 0 ? Node.new(depth - 1) : nil.as(Node?)
  end

  def count : Int32
    1 + (@left.try &.count || 0) + (@right.try &.count || 0)
  end
end

kept = Node.new(17)
sum = 0_i64
400.times { sum += Node.new(14).count }
sums = Channel(Int32).new
100.times { |i| spawn { sums.send Node.new(10 + i % 4).count } }
100.times { sum += sums.receive }
table = Hash(String, Array(String)).new { |hash, key| hash[key] = [] of String }
300_000.times { |i| table["key #{i % 5000}"] << "value #{i}" }
puts sum, kept.count, table.size, table.sum { |_, list| list.size }
