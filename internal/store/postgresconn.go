package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// postgresServer makes connections to PostgreSQL, with pgx and not over
// database/sql, which knows no pipelines.
type postgresServer struct{ config *pgx.ConnConfig }

func (p postgresServer) connect(ctx context.Context) (conn, error) {
	c, err := pgx.ConnectConfig(ctx, p.config)
	if err != nil {
		return nil, &databaseError{cause: &noConnection{err}, means: readPostgresError(err)}
	}
	return &postgresConn{conn: c, texts: map[string]string{}}, nil
}

func (p postgresServer) close() error { return nil }

// noConnection says in one line why there is none. pgx tells every address and
// every try of it, with and without TLS; the last one is enough.
type noConnection struct{ cause error }

func (e *noConnection) Error() string {
	last := e.cause
	for {
		switch inner := last.(type) {
		case interface{ Unwrap() []error }:
			all := inner.Unwrap()
			if len(all) == 0 {
				return last.Error()
			}
			last = all[len(all)-1]
		case *pgconn.ConnectError:
			if inner.Unwrap() == nil {
				return last.Error()
			}
			last = inner.Unwrap()
		default:
			return last.Error()
		}
	}
}

func (e *noConnection) Unwrap() error { return e.cause }

// postgresConn is a connection; pgx prepares and remembers its statements.
type postgresConn struct {
	conn  *pgx.Conn
	texts map[string]string // with numbered parameters, by what they are in the code
}

func (c *postgresConn) broken() bool { return c.conn.IsClosed() }

// close says good-bye, but not for long.
func (c *postgresConn) close() error {
	ctx, done := context.WithTimeout(context.Background(), closeTimeout)
	defer done()
	// The server may be gone; then so is the connection.
	_ = c.conn.Close(ctx)
	return nil
}

func (c *postgresConn) numbered(text string) string {
	if numbered, ok := c.texts[text]; ok {
		return numbered
	}
	if len(c.texts) >= maxStatements {
		clear(c.texts)
	}
	numbered := number(text)
	c.texts[text] = numbered
	return numbered
}

// number writes $1, $2 … for each ?, except in quotes.
func number(text string) string {
	var (
		b      strings.Builder
		n      int
		quoted bool
	)
	for _, r := range text {
		switch {
		case r == '\'':
			quoted = !quoted
		case r == '?' && !quoted:
			n++
			fmt.Fprintf(&b, "$%d", n)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (c *postgresConn) exec(ctx context.Context, text string, args []any) (int64, error) {
	tag, err := c.conn.Exec(ctx, c.numbered(text), storable(args)...)
	if err != nil {
		return 0, c.failure(ctx, err)
	}
	return tag.RowsAffected(), nil
}

func (c *postgresConn) queryRow(ctx context.Context, text string, args, dest []any) error {
	err := c.conn.QueryRow(ctx, c.numbered(text), storable(args)...).Scan(dest...)
	return c.failure(ctx, err)
}

func (c *postgresConn) each(ctx context.Context, text string, args []any, fn func(Rows) error) error {
	rows, err := c.conn.Query(ctx, c.numbered(text), storable(args)...)
	if err != nil {
		return c.failure(ctx, err)
	}
	return c.read(ctx, rows, fn)
}

func (c *postgresConn) read(ctx context.Context, rows pgx.Rows, fn func(Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return c.failure(ctx, rows.Err())
}

func (c *postgresConn) pipeline(ctx context.Context, list []query) (err error) {
	if len(list) == 0 {
		return nil
	}
	batch := &pgx.Batch{}
	for _, q := range list {
		batch.Queue(c.numbered(q.text), storable(q.args)...)
	}
	results := c.conn.SendBatch(ctx, batch)
	defer func() {
		if end := results.Close(); err == nil {
			err = c.failure(ctx, end)
		}
	}()
	for _, q := range list {
		if q.row != nil {
			rows, err := results.Query()
			if err != nil {
				return c.failure(ctx, err)
			}
			if err := c.read(ctx, rows, q.row); err != nil {
				return err
			}
			continue
		}
		tag, err := results.Exec()
		if err != nil {
			return c.failure(ctx, err)
		}
		// A COMMIT of what cannot be committed any more is answered ROLLBACK.
		if q.text == commit && tag.String() != commit {
			return &databaseError{cause: fmt.Errorf("COMMIT was answered %s", tag.String())}
		}
	}
	return nil
}

func (c *postgresConn) script(ctx context.Context, text string) error {
	_, err := c.conn.PgConn().Exec(ctx, text).ReadAll()
	return c.failure(ctx, err)
}

// failure reads an error; it must be called before anything else is done with
// the connection.
func (c *postgresConn) failure(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return sql.ErrNoRows
	}
	means := readPostgresError(err)
	if c.conn.IsClosed() {
		means = databaseAway
	}
	if cause := context.Cause(ctx); cause != nil {
		err = errors.Join(cause, err)
	}
	return &databaseError{cause: err, means: means}
}

// readPostgresError tells what an error means, by its code. Codes:
// https://www.postgresql.org/docs/15/errcodes-appendix.html
func readPostgresError(err error) failure {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		var connect *pgconn.ConnectError
		if errors.As(err, &connect) {
			return databaseAway
		}
		return failed // what could not be encoded or scanned
	}
	switch {
	case e.Code == "23505": // unique_violation
		return conflict
	case e.Code == "40001", e.Code == "40P01", e.Code == "55P03": // serialization, deadlock, lock timeout
		return runAgain
	case e.Code == "57014": // query_canceled
		return failed
	case e.Code == "25006", e.Severity == "FATAL", e.Severity == "PANIC": // read only: a standby
		return databaseAway
	}
	switch e.Code[:2] {
	case "08", "53", "57", "58": // connection, resources, operator's intervention, system
		return databaseAway
	}
	return failed
}

// storable gives arguments that PostgreSQL takes: its text has no NUL and is
// UTF-8, and a client's header or model name may be anything.
func storable(args []any) []any {
	for i, a := range args {
		switch v := a.(type) {
		case string:
			if !clean(v) {
				args = cleaned(args, i)
				return args
			}
		case []string:
			for k, s := range v {
				if !clean(s) {
					v[k] = cleanText(s)
				}
			}
		}
	}
	return args
}

func clean(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }

func cleanText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// cleaned copies the arguments from the first that needs it: they are the
// caller's.
func cleaned(args []any, from int) []any {
	out := append([]any(nil), args...)
	for i := from; i < len(out); i++ {
		if s, ok := out[i].(string); ok && !clean(s) {
			out[i] = cleanText(s)
		}
	}
	return out
}
