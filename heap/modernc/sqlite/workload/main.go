//go:build unix

// Command workload does one thing with sqlite databases in memory, a connection for each goroutine, and prints how many
// statements that were and the nanoseconds of CPU and wall time they took. compare runs it on several allocators.
//
//	workload NAME GOROUTINES STATEMENTS
package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	_ "modernc.org/sqlite"

	"granary/heap/internal/measure"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "workload:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 3 {
		return errors.New("usage: workload NAME GOROUTINES STATEMENTS")
	}
	work, ok := works[arguments[0]]
	goroutines, err1 := strconv.Atoi(arguments[1])
	statements, err2 := strconv.Atoi(arguments[2])
	if !ok || err1 != nil || err2 != nil || goroutines < 1 || statements < goroutines {
		return fmt.Errorf("no such workload: %v", arguments)
	}
	dbs := make([]*sql.DB, goroutines)
	for i := range dbs {
		var err error
		if dbs[i], err = open(); err != nil {
			return err
		}
		defer dbs[i].Close()
		if err := work(dbs[i], 100); err != nil { // what is allocated once
			return err
		}
	}
	each := statements / goroutines
	sample, err := measure.Timed(each*goroutines, func() error {
		errs := make([]error, goroutines)
		var done sync.WaitGroup
		for i, db := range dbs {
			done.Go(func() { errs[i] = work(db, each) })
		}
		done.Wait()
		return errors.Join(errs...)
	})
	fmt.Println(sample.Steps, sample.CPU.Nanoseconds(), sample.Wall.Nanoseconds())
	return err
}

func open() (*sql.DB, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`create table t (id integer primary key, name text, price real, body blob);
		create index byName on t (name)`)
	if err != nil {
		return nil, err
	}
	for i := range 1000 {
		_, err := db.Exec("insert into t (name, price, body) values (?, ?, ?)", name(i), float64(i)/4, make([]byte, 200))
		if err != nil {
			return nil, err
		}
	}
	return db, nil
}

func name(i int) string { return fmt.Sprintf("the name of row %06d", i*7919%1000) }

// works do so many statements with a database.
var works = map[string]func(db *sql.DB, statements int) error{
	"select": func(db *sql.DB, statements int) error {
		query, err := db.Prepare("select id, name, price from t where name = ?")
		if err != nil {
			return err
		}
		defer query.Close()
		for i := range statements {
			if err := read(query.Query(name(i % 1000))); err != nil {
				return err
			}
		}
		return nil
	},
	"prepare": func(db *sql.DB, statements int) error {
		for i := range statements {
			text := fmt.Sprintf("select id, name, price from t where name = '%s' and price < %d order by price",
				name(i%1000), i)
			if err := read(db.Query(text)); err != nil {
				return err
			}
		}
		return nil
	},
	"insert": func(db *sql.DB, statements int) error {
		insert, err := db.Prepare("insert into t (name, price, body) values (?, ?, ?)")
		if err != nil {
			return err
		}
		defer insert.Close()
		body := []byte(strings.Repeat("x", 200))
		for i := range statements {
			if _, err := insert.Exec(name(i), 1.5, body); err != nil {
				return err
			}
		}
		_, err = db.Exec("delete from t where id > 1000")
		return err
	},
	"blob": func(db *sql.DB, statements int) error {
		update, err := db.Prepare("update t set body = zeroblob(?) where id = ?")
		if err != nil {
			return err
		}
		defer update.Close()
		for i := range statements {
			if _, err := update.Exec(1000+i%7000, 1+i%1000); err != nil {
				return err
			}
		}
		return nil
	},
	"sort": func(db *sql.DB, statements int) error {
		const query = "select id, name, price from t where id <= 200 order by price * 7 % 11, name"
		for range statements / 100 { // one is worth a hundred
			if err := read(db.Query(query)); err != nil {
				return err
			}
		}
		return nil
	},
}

func read(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		var name string
		var price float64
		if err := rows.Scan(&id, &name, &price); err != nil {
			return err
		}
	}
	return rows.Err()
}
