// A C++ program with exceptions and threads: containers of many kinds, exceptions that carry memory
// from thread to thread, futures, thread-local objects, over-aligned types, polymorphic memory.
// Usage: threads SIZE. Prints the same for the same SIZE, however its threads are scheduled.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#ifdef WITH_REGEX // the compiler needs as long for it as for all the rest
#include <regex>
#endif
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

// Numbers: the same sequence for the same seed, on every thread.
class Numbers {
public:
	explicit Numbers(std::uint64_t seed) : state_(seed * 2654435761u + 1) {}
	std::uint64_t next()
	{
		state_ ^= state_ << 13;
		state_ ^= state_ >> 7;
		state_ ^= state_ << 17;
		return state_;
	}

private:
	std::uint64_t state_;
};

class Failure : public std::runtime_error {
public:
	Failure(int part, std::vector<std::string> trail)
		: std::runtime_error("part " + std::to_string(part) + " failed"), trail_(std::move(trail))
	{
	}
	const std::vector<std::string> &trail() const { return trail_; }

private:
	std::vector<std::string> trail_;
};

struct alignas(128) Wide {
	std::uint64_t values[16] = {};
};

// Jobs that are made by one thread and freed by another.
template <typename T> class Channel {
public:
	void send(std::unique_ptr<T> item)
	{
		{
			std::lock_guard lock(mutex_);
			items_.push_back(std::move(item));
		}
		ready_.notify_one();
	}
	std::unique_ptr<T> receive()
	{
		std::unique_lock lock(mutex_);
		ready_.wait(lock, [this] { return !items_.empty(); });
		auto item = std::move(items_.front());
		items_.pop_front();
		return item;
	}

private:
	std::mutex mutex_;
	std::condition_variable ready_;
	std::deque<std::unique_ptr<T>> items_;
};

thread_local std::vector<std::string> recent;

std::string word(std::uint64_t number)
{
	std::ostringstream out;
	out << std::hex << number % 100003 << '-' << std::string(number % 47, 'a' + number % 26);
	return out.str();
}

std::uint64_t digest(const std::string &text, std::uint64_t sum = 14695981039346656037u)
{
	for (unsigned char c : text)
		sum = (sum ^ c) * 1099511628211u;
	return sum;
}

// Throws from a depth; every frame owns memory that unwinding must free.
void descend(int part, int depth, std::vector<std::string> trail)
{
	auto owned = std::make_unique<std::string>(word(part * 1000 + depth));
	std::list<std::string> more(3, *owned);
	trail.push_back(*owned + more.back());
	if (depth == 0)
		throw Failure(part, trail);
	descend(part, depth - 1, trail);
}

std::uint64_t catch_failures(int rounds)
{
	std::uint64_t sum = 0;
	for (int i = 0; i < rounds; i++) {
		try {
			try {
				descend(i, i % 12, {});
			} catch (const Failure &) {
				std::throw_with_nested(std::logic_error("outer " + std::to_string(i)));
			}
		} catch (const std::logic_error &outer) {
			sum = digest(outer.what(), sum);
			try {
				std::rethrow_if_nested(outer);
			} catch (const Failure &inner) {
				for (const auto &step : inner.trail())
					sum = digest(step, sum);
			}
		}
	}
	return sum;
}

std::uint64_t containers(std::uint64_t seed, int size)
{
	Numbers numbers(seed);
	std::map<std::string, std::vector<int>> ordered;
	std::unordered_map<std::uint64_t, std::shared_ptr<std::string>> hashed;
	std::multiset<std::string> bag;
	std::vector<std::variant<int, std::string, std::vector<double>>> mixed;
	for (int i = 0; i < size; i++) {
		auto n = numbers.next();
		ordered[word(n % 5000)].push_back(i);
		hashed[n % 7001] = std::make_shared<std::string>(word(n));
		if (n % 3 == 0)
			bag.insert(word(n % 900));
		else if (!bag.empty() && n % 5 == 0)
			bag.erase(bag.begin());
		switch (n % 3) {
		case 0: mixed.emplace_back(static_cast<int>(n)); break;
		case 1: mixed.emplace_back(word(n)); break;
		default: mixed.emplace_back(std::vector<double>(n % 31, 0.5));
		}
	}
	recent.push_back(ordered.begin()->first);
	std::uint64_t sum = 0;
	for (const auto &[key, list] : ordered)
		sum = digest(key + std::to_string(list.size()), sum);
	for (std::uint64_t k = 0; k < 7001; k++)
		if (auto found = hashed.find(k); found != hashed.end())
			sum = digest(*found->second, sum);
	for (const auto &item : bag)
		sum = digest(item, sum);
	return std::accumulate(mixed.begin(), mixed.end(), sum,
		[](std::uint64_t s, const auto &v) { return s * 31 + v.index(); });
}

// Four threads make what four others use and free.
std::uint64_t exchange(int size)
{
	std::vector<Channel<std::string>> channels(4);
	std::vector<std::uint64_t> sums(4);
	std::vector<std::thread> threads;
	for (int k = 0; k < 4; k++) {
		threads.emplace_back([&channels, k, size] {
			Numbers numbers(k);
			for (int i = 0; i < size; i++)
				channels[k].send(std::make_unique<std::string>(word(numbers.next())));
			channels[k].send(nullptr);
		});
		threads.emplace_back([&channels, &sums, k] {
			while (auto item = channels[k].receive())
				sums[k] = digest(*item, sums[k]);
		});
	}
	for (auto &thread : threads)
		thread.join();
	return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

// Threads that live for one object; their thread-local objects are freed as they end.
std::uint64_t short_threads(int count)
{
	std::atomic<std::uint64_t> sum = 0;
	for (int i = 0; i < count; i += 8) {
		std::vector<std::thread> threads;
		for (int k = i; k < i + 8; k++)
			threads.emplace_back([&sum, k] {
				recent.assign(k % 17, word(k));
				sum += digest(word(k)) + recent.size();
			});
		for (auto &thread : threads)
			thread.join();
	}
	return sum;
}

std::uint64_t aligned(int count)
{
	std::vector<std::unique_ptr<Wide>> wide;
	std::uint64_t sum = 0;
	for (int i = 0; i < count; i++) {
		wide.push_back(std::make_unique<Wide>());
		if (reinterpret_cast<std::uintptr_t>(wide.back().get()) % alignof(Wide) != 0)
			throw std::runtime_error("a Wide lies at an unaligned address");
		wide.back()->values[i % 16] = i;
		if (i % 3 == 0)
			wide.erase(wide.begin() + wide.size() / 2);
	}
	for (const auto &w : wide)
		sum += std::accumulate(std::begin(w->values), std::end(w->values), std::uint64_t{0});
	return sum;
}

std::uint64_t polymorphic(int size)
{
	std::pmr::synchronized_pool_resource pool;
	std::pmr::monotonic_buffer_resource bump(1 << 12, &pool);
	std::pmr::vector<std::pmr::string> words(&pool);
	std::pmr::list<std::pmr::string> listed(&bump);
	Numbers numbers(99);
	for (int i = 0; i < size; i++) {
		words.emplace_back(word(numbers.next()));
		if (i % 4 == 0)
			listed.emplace_back(words[numbers.next() % words.size()]);
	}
	std::sort(words.begin(), words.end());
	std::uint64_t sum = 0;
	for (const auto &text : words)
		sum = digest(std::string(text), sum);
	for (const auto &text : listed)
		sum = digest(std::string(text), sum);
	return sum;
}

#ifdef WITH_REGEX
std::uint64_t matched(int size)
{
	std::regex pattern("([0-9a-f]+)-(a+|b+|[c-f]*)");
	Numbers numbers(7);
	std::uint64_t sum = 0;
	for (int i = 0; i < size; i++) {
		std::smatch match;
		auto text = word(numbers.next());
		if (std::regex_match(text, match, pattern))
			sum = digest(match[1].str() + '/' + match[2].str(), sum);
	}
	return sum;
}
#endif

// The same exceptions thrown in other threads and handed here through futures.
std::string failures_of_threads(int count)
{
	std::vector<std::future<int>> futures;
	for (int i = 0; i < count; i++)
		futures.push_back(std::async(std::launch::async, [i]() -> int {
			if (i % 3 == 0)
				descend(i, 5, {"start"});
			if (i % 3 == 1)
				return static_cast<int>(std::vector<int>(1000, i).at(1000 - i % 2));
			return i;
		}));
	std::ostringstream out;
	for (auto &future : futures) {
		try {
			out << future.get() << ' ';
		} catch (const Failure &failure) {
			out << failure.what() << ' ' << failure.trail().size() << ' ';
		} catch (const std::out_of_range &) {
			out << "range ";
		}
	}
	return out.str();
}

std::string refusals()
{
	// Volatile, so that the compiler neither refuses the size nor leaves the allocation out.
	volatile std::size_t huge = SIZE_MAX / 2 - 64;
	std::string out;
	try {
		std::unique_ptr<char[]> p(new char[huge]);
		out += "got it ";
	} catch (const std::bad_alloc &error) {
		out += error.what();
	}
	void *nothing = ::operator new(huge, std::nothrow);
	out += nothing ? " got it" : " null";
	static int asked;
	std::set_new_handler([] {
		if (++asked == 3)
			std::set_new_handler(nullptr);
	});
	try {
		::operator delete(::operator new(huge, std::align_val_t(64)), std::align_val_t(64));
		out += " got it";
	} catch (const std::bad_alloc &) {
		out += " handler asked " + std::to_string(asked) + " times";
	}
	return out;
}

} // namespace

int main(int argc, char **argv)
{
	const int size = argc > 1 ? std::atoi(argv[1]) : 20000;
	std::vector<std::future<std::uint64_t>> parts;
	for (int k = 0; k < 4; k++)
		parts.push_back(std::async(std::launch::async, containers, k, size));
	for (auto &part : parts)
		std::cout << "containers: " << part.get() << '\n';
	std::cout << "exceptions: " << catch_failures(size / 20) << '\n'
			  << "exchange: " << exchange(size) << '\n'
			  << "short threads: " << short_threads(size / 100 * 8) << '\n'
			  << "aligned: " << aligned(size / 20) << '\n'
			  << "polymorphic: " << polymorphic(size) << '\n'
			  << "failures: " << failures_of_threads(40) << '\n'
			  << "refusals: " << refusals() << '\n';
#ifdef WITH_REGEX
	std::cout << "matched: " << matched(size / 10) << '\n';
#endif
	std::cout << "all parts done\n";
}
