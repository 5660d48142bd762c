//go:build programs

// This file runs nginx under a bounded load from ab and from a client of its own.

package programs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// nginxConfig is all of nginx's configuration: every path is in the work directory.
const nginxConfig = `
daemon off;
%s
worker_processes 2;
error_log stderr warn;
pid nginx.pid;
events { worker_connections 256; }
http {
	access_log access.log;
	client_body_temp_path tmp/body;
	proxy_temp_path tmp/proxy;
	fastcgi_temp_path tmp/fastcgi;
	uwsgi_temp_path tmp/uwsgi;
	scgi_temp_path tmp/scgi;
	keepalive_requests 100;
	gzip on;
	gzip_types text/plain;
	gzip_min_length 100;
	default_type text/plain;
	upstream self { server unix:%[2]s; keepalive 8; }
	server {
		listen 127.0.0.1:%[3]d;
		listen unix:%[2]s;
		root pages;
		location /proxied/ {
			proxy_pass http://self/;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
		}
		location /rewritten/ { rewrite ^/rewritten/(.*)$ /$1 last; }
		location /nothing { return 204; }
	}
}
`

// freePort gives a TCP port of the loopback interface that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// children gives the processes that a process started.
func children(s *session, pid int) []int {
	s.t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	if err != nil {
		s.fatalf("%v", err)
	}
	var pids []int
	for _, field := range strings.Fields(string(data)) {
		child, err := strconv.Atoi(field)
		if err != nil {
			s.fatalf("%v", err)
		}
		pids = append(pids, child)
	}
	return pids
}

// writePages makes the pages, all of one date so that nginx gives them the same ETag in both
// passes.
func writePages(s *session) (paths []string) {
	date := time.Unix(1_700_000_000, 0)
	for i := range 40 {
		name := fmt.Sprintf("page%d.txt", i)
		s.write("pages/"+name, compressibleData(i*i*400+i))
		if err := os.Chtimes(s.path("pages/"+name), date, date); err != nil {
			s.fatalf("%v", err)
		}
		paths = append(paths, "/"+name, "/proxied/"+name, "/rewritten/"+name)
	}
	return append(paths, "/nothing", "/missing")
}

func TestNginxServesABoundedLoad(t *testing.T) {
	nginx := need(t, "nginx", "nginx-light")
	ab := need(t, "ab", "apache2-utils")
	port := freePort(t)
	compare(t, func(s *session) {
		user := ""
		if os.Getuid() == 0 { // only root can, and need, choose the user of the workers
			user = "user root;"
		}
		s.write("nginx.conf", fmt.Appendf(nil, nginxConfig, user, s.path("nginx.sock"), port))
		paths := writePages(s)
		v := s.start(command{args: []string{nginx, "-p", s.dir, "-c", s.path("nginx.conf"),
			"-e", "stderr"}})
		address := fmt.Sprintf("127.0.0.1:%d", port)
		v.waitUntil("it listens and has its workers", func() bool {
			c, err := net.DialTimeout("tcp", address, time.Second)
			if err == nil {
				c.Close()
			}
			return err == nil && len(children(s, v.pid())) == 2
		})
		before := children(s, v.pid())
		for _, pid := range append([]int{v.pid()}, before...) {
			s.needMapped(pid)
		}
		s.record("the answers", fetchAll(s, address, paths, 3))
		benchNginx(s, ab, address)

		// New workers take over while the old ones end.
		if err := syscall.Kill(v.pid(), syscall.SIGHUP); err != nil {
			s.fatalf("%v", err)
		}
		v.waitUntil("the old workers are gone", func() bool {
			now := children(s, v.pid())
			return len(now) == 2 && now[0] != before[0] && now[1] != before[1] &&
				now[0] != before[1] && now[1] != before[0]
		})
		s.record("the answers of the new workers", fetchAll(s, address, paths, 2))
		v.stop(syscall.SIGQUIT)
	})
}

// benchNginx has ab send a fixed number of requests and records what does not depend on time.
func benchNginx(s *session, ab, address string) {
	s.t.Helper()
	counts := regexp.MustCompile(
		`(?m)^(Complete requests|Failed requests|Non-2xx responses|HTML transferred|Document Length):.*$`)
	for _, page := range []string{"page3.txt", "proxied/page8.txt", "rewritten/page15.txt"} {
		for _, options := range [][]string{{"-k"}, {"-H", "Accept-Encoding: gzip"}} {
			args := append([]string{ab, "-q", "-n", "3000", "-c", "20"}, options...)
			r := s.run(command{args: append(args, "http://"+address+"/"+page)})
			if !bytes.Contains(r.stdout, []byte("Failed requests:        0\n")) {
				s.fatalf("ab on %s: requests failed\n%s", page, tail(r.stdout))
			}
			s.record("ab on "+page, bytes.Join(counts.FindAll(r.stdout, -1), []byte("\n")))
		}
	}
}

// fetchAll fetches every path a few times with eight clients at once, plain and compressed; it
// gives a sorted line for each answer.
func fetchAll(s *session, address string, paths []string, times int) []byte {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8}
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()
	type request struct{ path, encoding string }
	requests := make(chan request)
	var mutex sync.Mutex
	var lines []string // under mutex
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for r := range requests {
				line := fetch(ctx, client, "http://"+address+r.path, r.encoding)
				mutex.Lock()
				lines = append(lines, r.path+" "+r.encoding+" "+line)
				mutex.Unlock()
			}
		})
	}
	for range times {
		for _, path := range paths {
			requests <- request{path, "identity"}
			requests <- request{path, "gzip"}
		}
	}
	close(requests)
	clients.Wait()
	sort.Strings(lines)
	return []byte(strings.Join(lines, "\n"))
}

// fetch gives an answer in a line: status, headers and the digest of the body. Two headers are
// left out: the date, another at any second, and whether the connection is closed, which hits
// the request that happens to be the hundredth on its connection.
func fetch(ctx context.Context, client *http.Client, url, encoding string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Accept-Encoding", encoding)
	answer, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err.Error()
	}
	answer.Header.Del("Date")
	answer.Header.Del("Connection")
	return fmt.Sprintf("%s %v %x", answer.Status, answer.Header, sha256.Sum256(body))
}
