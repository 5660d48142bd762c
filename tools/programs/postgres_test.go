//go:build programs

// This file runs PostgreSQL: initdb, pgbench, queries of many kinds, a dump, a restart.

package programs

import (
	"bytes"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cluster is PostgreSQL's programs with a data directory and a socket in the work directory.
type cluster struct {
	s    *session
	bin  string              // const: where the programs are
	user *syscall.Credential // const: who runs them; nil for the user of the tests
}

// newCluster finds the programs and their user: PostgreSQL refuses to run as root, so root runs it
// as the user that Debian's package makes.
func newCluster(s *session) *cluster {
	s.t.Helper()
	c := &cluster{s: s}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil || len(found) == 0 {
		s.t.Fatal("pgbench is missing; install it with: " +
			"apt-get install --no-install-recommends postgresql")
	}
	c.bin = filepath.Dir(found[len(found)-1])
	if os.Getuid() == 0 {
		c.user = credential(s, "postgres")
		for _, dir := range []string{s.dir, s.path("tmp")} {
			if err := os.Chown(dir, int(c.user.Uid), int(c.user.Gid)); err != nil {
				s.fatalf("%v", err)
			}
		}
	}
	return c
}

func credential(s *session, name string) *syscall.Credential {
	s.t.Helper()
	account, err := user.Lookup(name)
	if err != nil {
		s.fatalf("%v; Debian's package postgresql makes this user", err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		s.fatalf("%v", err)
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		s.fatalf("%v", err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// command makes the command of one of PostgreSQL's programs.
func (c *cluster) command(program string, args ...string) command {
	return command{
		args:  append([]string{filepath.Join(c.bin, program)}, args...),
		env:   []string{"PGHOST=" + c.s.dir, "PGUSER=tester", "PGDATABASE=postgres", "PGTZ=UTC"},
		user:  c.user,
		limit: 5 * time.Minute,
	}
}

func (c *cluster) run(program string, args ...string) result {
	c.s.t.Helper()
	return c.s.run(c.command(program, args...))
}

// query gives the answer to SQL, one line a row.
func (c *cluster) query(sql string) string {
	c.s.t.Helper()
	r := c.run("psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql)
	return strings.TrimSpace(string(r.stdout))
}

// start starts the server, without TCP, and waits until it answers; the main process and the
// backend of a client must have loaded Granary.
func (c *cluster) start() *server {
	c.s.t.Helper()
	v := c.s.start(c.command("postgres", "-D", c.s.path("data"), "-k", c.s.dir,
		"-c", "listen_addresses=", "-c", "shared_buffers=64MB", "-c", "fsync=off",
		"-c", "max_parallel_workers_per_gather=2", "-c", "min_parallel_table_scan_size=0",
		"-c", "parallel_setup_cost=0", "-c", "work_mem=1MB", "-c", "autovacuum_naptime=1"))
	v.waitUntil("it accepts connections", func() bool {
		return bytes.Contains(v.errors.bytes(), []byte("ready to accept connections"))
	})
	c.s.needMapped(v.pid())
	if c.query("select pg_read_file('/proc/self/maps') like '%libgranary.so%'") !=
		map[bool]string{true: "t", false: "f"}[c.s.granary()] {
		c.s.fatalf("libgranary.so in the memory map of a backend: not %v", c.s.granary())
	}
	return v
}

// postgresScript works on a table of its own: sorts and hashes that do not fit into the memory
// they may use, parallel plans, triggers and exceptions of PL/pgSQL, JSON, arrays, indexes. In
// the end the rows are clustered: before that their order depends on when the server cleans up
// behind a change, and on where in the table another scan was.
const postgresScript = `
create table fact as
  select i as id, i * 7919 % 997 as kind, (i * 104729::bigint % 100003) / 8.0 as amount,
         md5(i::text) || repeat(chr(97 + i % 26), i % 200) as word
  from generate_series(1, 200000) i;
create index on fact (kind, amount);
create index on fact using gin (to_tsvector('simple', word));
create index on fact using hash (word);
create index concurrently by_word on fact (left(word, 20));
analyze fact;
select count(*), sum(amount), md5(string_agg(word, ',' order by id)) from fact;
select kind, count(*), max(word) from fact group by kind order by kind limit 30;
select md5(string_agg(word, '' order by word, id)) from fact where kind < 500;
select count(*) from fact a join fact b on a.word = b.word and a.kind = b.kind;
select md5(string_agg(t::text, ';' order by id)) from (
  select id, rank() over (partition by kind order by amount desc, id),
         lag(word, 2) over (partition by kind order by id) from fact where kind < 50) t;
select md5(jsonb_agg(jsonb_build_object('kind', kind, 'words', words) order by kind)::text) from (
  select kind, array_agg(left(word, 5) order by id) as words from fact group by kind) t;
create function checked(n int) returns text language plpgsql as $$
declare answer text := '';
begin
  for i in 1..n loop
    begin
      answer := answer || (100 / (i % 7))::text;
    exception when division_by_zero then
      answer := answer || 'x';
    end;
  end loop;
  return md5(answer);
end $$;
select checked(5000);
create function marked() returns trigger language plpgsql as $$
begin new.word := new.word || ' changed'; return new; end $$;
create trigger mark before update on fact for each row execute function marked();
update fact set amount = amount * 2 where id % 11 = 0;
delete from fact where kind % 5 = 0;
with recursive tree(n, path) as (
  select 1, '1' union all
  select n * 2 + k, path || '.' || n * 2 + k from tree, (values (0), (1)) v(k)
  where n < 3000)
select count(*), md5(string_agg(path, ',' order by path)) from tree;
select count(*), sum(amount), md5(string_agg(word, ',' order by id)) from fact;
select regexp_replace(left(word, 40), '([0-9])([a-f])', '\2\1', 'g') from fact order by id limit 20;
vacuum full fact;
alter table fact add primary key (id);
cluster fact using fact_pkey;
reindex table fact;
`

func TestPostgresServesItsBenchmarkAndRestarts(t *testing.T) {
	compare(t, func(s *session) {
		c := newCluster(s)
		c.run("initdb", "-D", s.path("data"), "-U", "tester", "-A", "trust", "-E", "UTF8",
			"--locale=C", "--no-sync")
		v := c.start()
		c.run("pgbench", "-i", "-q", "-s", "5")
		// Each client's numbers come from the seed, so the balances in the end do not depend on
		// which client is served first.
		for _, mode := range []string{"simple", "extended", "prepared"} {
			r := c.run("pgbench", "-n", "-c", "4", "-j", "2", "-t", "1500", "--random-seed=42", "-M", mode)
			if !bytes.Contains(r.stdout, []byte("processed: 6000/6000\n")) {
				s.fatalf("pgbench -M %s did not process all\n%s", mode, tail(r.stdout))
			}
		}
		for _, table := range []string{"accounts", "tellers", "branches"} {
			s.record(table, []byte(c.query("select count(*), md5(string_agg(t::text, ';' order by t::text))"+
				" from pgbench_"+table+" t")))
		}
		// Without the times of the transactions, which differ in each run.
		s.record("history", []byte(c.query("select count(*), md5(string_agg(tid || ' ' || bid || ' ' || "+
			"aid || ' ' || delta, ';' order by tid, bid, aid, delta)) from pgbench_history")))
		c.runScript(postgresScript)
		before := c.dump()
		v.stop(syscall.SIGINT)

		v = c.start()
		if after := c.dump(); !bytes.Equal(before, after) {
			s.fatalf("the dump after the restart differs\n%s", firstDifference(before, after))
		}
		s.record("what the server holds", before)
		s.record("amcheck", []byte(c.query("create extension amcheck; "+
			"select count(bt_index_check(oid, true)) from pg_class where relam = 403 and relkind = 'i' "+
			"and relname !~ '^pg_toast'")))
		v.stop(syscall.SIGTERM)
	})
}

// runScript runs SQL and records the answers.
func (c *cluster) runScript(sql string) {
	c.s.t.Helper()
	run := c.command("psql", "-X", "-A", "-v", "ON_ERROR_STOP=1")
	run.stdin = strings.NewReader(sql)
	r := c.s.recordRun("the script", run)
	if !bytes.HasSuffix(r.stdout, []byte("CLUSTER\nREINDEX\n")) {
		c.s.fatalf("the script did not reach its end\n%s%s", tail(r.stdout), tail(r.stderr))
	}
}

// dump gives what pg_dump writes of the script's own tables and functions. pgbench's tables are
// left out: their rows lie in the order in which clients were served, and the records above hold
// them.
func (c *cluster) dump() []byte {
	c.s.t.Helper()
	r := c.run("pg_dump", "-T", "pgbench_*", "postgres")
	if !bytes.Contains(r.stdout, []byte("PostgreSQL database dump complete")) {
		c.s.fatalf("pg_dump wrote %s", tail(r.stdout))
	}
	// Newer versions of pg_dump wrap the dump in \restrict lines with a random key.
	lines := bytes.SplitAfter(r.stdout, []byte("\n"))
	var kept []byte
	for _, line := range lines {
		if !bytes.HasPrefix(line, []byte(`\restrict`)) && !bytes.HasPrefix(line, []byte(`\unrestrict`)) {
			kept = append(kept, line...)
		}
	}
	return fmt.Appendf(nil, "%d bytes\n%s", len(kept), kept)
}
