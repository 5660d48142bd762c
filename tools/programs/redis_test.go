// This file runs redis-server under redis-benchmark, and starts it again from its dump.

package programs

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// redisServer is a running redis-server that listens on a Unix socket only.
type redisServer struct {
	*server
	cli []string // const: the client's command line up to the request
}

// startRedis starts a server on the dump in the work directory, if there is one, and waits until it
// answers.
func startRedis(s *session) *redisServer {
	s.t.Helper()
	args := []string{need(s.t, "redis-server", "redis-server"), "--port", "0",
		"--unixsocket", s.path("redis.sock"), "--dir", s.dir, "--save", "", "--appendonly", "no",
		"--enable-debug-command", "yes"}
	cli := []string{need(s.t, "redis-cli", "redis-tools"), "-s", s.path("redis.sock")}
	r := &redisServer{s.start(command{args: args}), cli}
	r.waitUntil("the server says that it is ready", func() bool {
		return bytes.Contains(r.out.bytes(), []byte("server is now ready to accept connections"))
	})
	s.needMapped(r.pid())
	return r
}

// ask sends one request and gives the answer.
func (r *redisServer) ask(request ...string) string {
	r.s.t.Helper()
	answer := strings.TrimSpace(string(r.s.output(append(r.cli, request...)...)))
	if strings.HasPrefix(answer, "ERR") || strings.HasPrefix(answer, "Could not") {
		r.s.fatalf("redis answered %v with: %s", request, answer)
	}
	return answer
}

// digest is the server's own digest of all keys and values, whatever their order in memory.
func (r *redisServer) digest() string {
	r.s.t.Helper()
	digest := r.ask("debug", "digest")
	if len(digest) != 40 || strings.Trim(digest, "0") == "" {
		r.s.fatalf("redis gave %q as the digest of its keys", digest)
	}
	return digest
}

// fill pipes requests for all types of values into the server.
func (r *redisServer) fill(keys int) {
	var requests bytes.Buffer
	send := func(words ...string) {
		fmt.Fprintf(&requests, "*%d\r\n", len(words))
		for _, word := range words {
			fmt.Fprintf(&requests, "$%d\r\n%s\r\n", len(word), word)
		}
	}
	for i := range keys {
		number := fmt.Sprint(i)
		long := strings.Repeat(number+",", i%200)
		send("set", "text:"+number, long)
		send("append", "text:"+fmt.Sprint(i/2), long)
		send("hset", "hash:"+fmt.Sprint(i%50), number, long)
		send("rpush", "list:"+fmt.Sprint(i%40), long+number)
		send("sadd", "set:"+fmt.Sprint(i%30), number, number+"x")
		send("zadd", "sorted:"+fmt.Sprint(i%20), fmt.Sprint(i*7919%1000), number)
		send("xadd", "stream", fmt.Sprint(i+1)+"-1", "field", long)
		send("pfadd", "estimate:"+fmt.Sprint(i%5), number)
		if i%3 == 0 {
			send("del", "text:"+fmt.Sprint(i/3))
		}
	}
	r.s.run(command{args: append(r.cli, "--pipe"), stdin: &requests})
}

// benchmark runs requests by fifty clients, only such that leave the same behind in any order.
// Their number must be a multiple of the sixteen that a client sends at once, else the benchmark
// sends more than it was told.
func (r *redisServer) benchmark(requests int, more ...string) {
	r.s.t.Helper()
	args := []string{need(r.s.t, "redis-benchmark", "redis-tools"), "-s", r.s.path("redis.sock"),
		"-q", "-P", "16", "-c", "50", "-n", fmt.Sprint(requests), "-d", "100",
		"-t", "set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,zadd,lrange_100,mset"}
	r.s.run(command{args: append(args, more...)})
}

func TestRedisUnderItsBenchmarkAndRestartedFromItsDump(t *testing.T) {
	keys, requests := 3000, 20_000
	if fullSize {
		keys, requests = 60_000, 160_000
	}
	compare(t, func(s *session) {
		r := startRedis(s)
		r.fill(keys)
		r.benchmark(requests)
		s.record("the number of keys", []byte(r.ask("dbsize")))
		s.record("the digest of all keys", []byte(r.digest()))
		// The benchmark's random keys are others in each run: they are left out of the
		// comparison of the two passes, but what the server keeps of them over a dump is
		// compared below.
		r.benchmark(requests, "-r", "10000", "--dbnum", "1")
		before := r.digest()
		r.ask("debug", "reload")
		if after := r.digest(); after != before {
			s.fatalf("the digest was %s before and is %s after a reload", before, after)
		}
		r.ask("bgsave")
		r.waitUntil("the background dump is written", func() bool {
			return strings.Contains(r.ask("info", "persistence"), "rdb_bgsave_in_progress:0")
		})
		if !strings.Contains(r.ask("info", "persistence"), "rdb_last_bgsave_status:ok") {
			s.fatalf("the forked child did not write its dump\n%s", tail(r.out.bytes()))
		}
		r.stop(syscall.SIGTERM)

		again := startRedis(s)
		if after := again.digest(); after != before {
			s.fatalf("the digest was %s before and is %s after the restart", before, after)
		}
		again.ask("flushall")
		again.stop(syscall.SIGTERM)
	})
}
