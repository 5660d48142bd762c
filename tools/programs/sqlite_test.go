// This file runs the sqlite3 shell on one large script.

package programs

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

// sqliteScript fills a table with rows of arithmetic (no random(), so that both passes do the
// same) and puts every part of the library to work on them.
func sqliteScript(rows int) string {
	return fmt.Sprintf(`
pragma cache_size = 20000;
create table fact (id integer primary key, kind integer, amount real, word text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < %d)
insert into fact
  select i, (i * 7919) %% 997, ((i * 104729) %% 100003) / 8.0,
         substr(hex(i * 2654435761 %% 4294967296), 1, 3 + i %% 11) || ' word ' || (i %% 4999)
  from n;
create index by_kind on fact (kind, amount);
create index by_word on fact (word);
analyze;
create table kind as select kind, count(*) as many, sum(amount) as total from fact group by kind;
select count(*), sum(many), printf('%%.3f', sum(total)) from kind;
select word, count(*) from fact group by word order by 2 desc, 1 limit 20;
select f.kind, max(f.word), k.many from fact f join kind k using (kind)
  where f.amount > 12000 group by f.kind order by f.kind limit 20;
select kind, id, rank() over (partition by kind order by amount desc, id) as place from fact
  where kind < 20 order by kind, place, id limit 200;
select sum(length(group_text)) from
  (select group_concat(word, ',') as group_text
   from (select * from fact order by id) group by kind);
select json_group_array(json_object('kind', kind, 'many', many)) from
  (select * from kind order by kind limit 50);
create virtual table search using fts5(word);
insert into search (rowid, word) select id, word from fact where id %% 5 = 0;
select count(*) from search where search match 'word 77';
update fact set amount = amount * 2, word = word || ' twice' where id %% 7 = 0;
begin;
delete from fact where kind %% 3 = 0;
savepoint inner_part;
delete from fact;
rollback to inner_part;
commit;
select count(*), printf('%%.3f', sum(amount)) from fact;
vacuum;
pragma integrity_check;
select count(*), lower(hex(substr(group_concat(digest, ''), 1, 16))) from
  (select hex(word) as digest from fact order by word, id limit 1000);
`, rows)
}

func TestSqliteRunsALargeScript(t *testing.T) {
	sqlite := need(t, "sqlite3", "sqlite3")
	rows := 100_000
	if fullSize {
		rows = 1_000_000
	}
	compare(t, func(s *session) {
		s.write("script.sql", []byte(sqliteScript(rows)))
		r := s.recordRun("script.sql", command{
			args:  []string{sqlite, "-batch", "-bail", "fact.db", ".read script.sql"},
			limit: 5 * time.Minute,
		})
		if !bytes.Contains(r.stdout, []byte("\nok\n")) || len(r.stderr) > 0 {
			s.fatalf("the script did not reach its end\n%s%s", tail(r.stdout), r.stderr)
		}
		s.recordFile("fact.db")
		dump := s.run(command{args: []string{sqlite, "fact.db", ".dump"}})
		s.record("the dump", dump.stdout)
	})
}
