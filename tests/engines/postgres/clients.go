// pgx and lib/pq against the PostgreSQL port: `go run . NAME`. See clients.ts beside this file.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/lib/pq"
)

var all256 = func() []byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return all
}()

const orders = `"in.c-main".orders`

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func try(err error) {
	if err != nil {
		panic(err)
	}
}

func check(what string, seen, wanted any) {
	if !reflect.DeepEqual(seen, wanted) {
		panic(fmt.Sprintf("%s: %#v is not %#v", what, seen, wanted))
	}
	fmt.Println("ok", what)
}

func address(reader bool, more string) string {
	user, password, database := "me", os.Getenv("MILLRACE_TOKEN"), "default"
	if !reader {
		user, password, database = os.Getenv("MILLRACE_USER"), os.Getenv("MILLRACE_PASSWORD"), "workspace"
	}
	return fmt.Sprintf("postgres://%s@127.0.0.1:%s/%s?sslmode=disable%s", url.UserPassword(user, password), os.Getenv("MILLRACE_PORT"), database, more)
}

func usePgx() {
	ctx := context.Background()
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		reader := must(pgx.Connect(ctx, address(true, "&default_query_exec_mode="+mode)))
		var city string
		try(reader.QueryRow(ctx, "SELECT city FROM "+orders+" WHERE id = $1", "3").Scan(&city))
		check(mode, city, "Žďár")
		var count int
		try(reader.QueryRow(ctx, "SELECT count(*) FROM "+orders+" WHERE id = ANY($1)", []string{"1", "2"}).Scan(&count))
		check(mode+", list", count, 2)
		try(reader.Close(ctx))
	}
	reader := must(pgx.Connect(ctx, address(true, "")))
	var interval time.Duration
	try(reader.QueryRow(ctx, "SELECT $1::INTERVAL", 90*time.Second).Scan(&interval))
	check("interval", interval, 90*time.Second)
	var out bytes.Buffer
	must(reader.PgConn().CopyTo(ctx, &out, "COPY (SELECT id FROM "+orders+" ORDER BY id) TO STDOUT"))
	check("copy to", out.String(), "1\n2\n3\n")
	try(reader.Close(ctx))

	writer := must(pgx.Connect(ctx, address(false, "")))
	must(writer.Exec(ctx, "CREATE TABLE px (id INTEGER, name TEXT, data BYTEA, numbers BIGINT[])"))
	try(pgx.BeginFunc(ctx, writer, func(outer pgx.Tx) error {
		must(outer.Exec(ctx, "INSERT INTO px VALUES ($1, $2, $3, $4)", 1, "kept", all256, []int64{1, 2}))
		undo := errors.New("undo")
		if err := pgx.BeginFunc(ctx, outer, func(inner pgx.Tx) error {
			must(inner.Exec(ctx, "INSERT INTO px (id) VALUES (2)"))
			return undo
		}); !errors.Is(err, undo) {
			return err
		}
		return nil
	}))
	var data []byte
	var numbers []int64
	try(writer.QueryRow(ctx, "SELECT data, numbers FROM px").Scan(&data, &numbers))
	check("written", [2]any{data, numbers}, [2]any{all256, []int64{1, 2}})
	rows := [][]any{}
	for i := range 1000 {
		rows = append(rows, []any{int32(i), fmt.Sprint("n", i), all256, []int64{int64(i)}})
	}
	check("CopyFrom", must(writer.CopyFrom(ctx, pgx.Identifier{"px"}, []string{"id", "name", "data", "numbers"}, pgx.CopyFromRows(rows))), int64(1000))
	batch := &pgx.Batch{}
	for i := range 3 {
		batch.Queue("UPDATE px SET name = $1 WHERE id = $2", "changed", i)
	}
	try(writer.SendBatch(ctx, batch).Close())
	var changed int
	try(writer.QueryRow(ctx, "SELECT count(*) FROM px WHERE name = 'changed'").Scan(&changed))
	check("batch", changed, 4)
	try(writer.Close(ctx))
}

func usePq() {
	reader := must(sql.Open("postgres", address(true, "")))
	var city string
	try(reader.QueryRow("SELECT city FROM "+orders+" WHERE id = $1", "3").Scan(&city))
	check("rows", city, "Žďár")
	var count int
	try(reader.QueryRow("SELECT count(*) FROM "+orders+" WHERE id = ANY($1)", pq.Array([]string{"1", "2"})).Scan(&count))
	check("list", count, 2)
	var text string
	try(reader.QueryRow("SELECT $1", "x").Scan(&text))
	check("without a type", text, "x")
	writer := must(sql.Open("postgres", address(false, "")))
	writer.SetMaxOpenConns(1)
	must(writer.Exec("CREATE TABLE lp (id INTEGER, data BYTEA, names TEXT[])"))
	tx := must(writer.Begin())
	must(tx.Exec("INSERT INTO lp VALUES ($1, $2, $3)", 1, all256, pq.Array([]string{"a", `b"c`})))
	copied := must(tx.Prepare(pq.CopyIn("lp", "id", "data")))
	for i := range 100 {
		must(copied.Exec(i+2, all256))
	}
	must(copied.Exec())
	try(copied.Close())
	try(tx.Commit())
	var data []byte
	var names []string
	try(writer.QueryRow("SELECT data, names FROM lp WHERE id = 1").Scan(&data, pq.Array(&names)))
	check("written", [2]any{data, names}, [2]any{all256, []string{"a", `b"c`}})
	try(writer.QueryRow("SELECT count(data) FROM lp").Scan(&count))
	check("CopyIn", count, 101)
}

func main() {
	map[string]func(){"pgx": usePgx, "pq": usePq}[os.Args[1]]()
}
