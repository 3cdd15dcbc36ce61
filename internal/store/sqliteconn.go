package store

import (
	"context"
	"database/sql"
	"errors"
)

// maxStatements bounds the prepared statements that a connection keeps. Far
// more than there are in the code; lists of filters and of rows multiply them.
const maxStatements = 400

// sqliteFile makes connections to SQLite over database/sql, which is used for
// no more than that: its own pool prepares statements per connection anew in
// each transaction and cannot be waited for at the end.
type sqliteFile struct{ db *sql.DB }

func openSQLiteFile(dsn string) (connector, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	return sqliteFile{db}, nil
}

func (f sqliteFile) connect(ctx context.Context) (conn, error) {
	c, err := f.db.Conn(ctx)
	if err != nil {
		return nil, wrap(err, readSQLiteError)
	}
	return &sqliteConn{conn: c, stmts: map[string]*sql.Stmt{}}, nil
}

func (f sqliteFile) close() error { return f.db.Close() }

// sqliteConn is a connection with its prepared statements.
type sqliteConn struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func (c *sqliteConn) broken() bool { return false }

func (c *sqliteConn) close() error { return errors.Join(c.forget(), c.conn.Close()) }

func (c *sqliteConn) forget() error {
	var errs []error
	for _, stmt := range c.stmts {
		errs = append(errs, stmt.Close())
	}
	clear(c.stmts)
	return errors.Join(errs...)
}

func (c *sqliteConn) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt := c.stmts[text]; stmt != nil {
		return stmt, nil
	}
	if len(c.stmts) >= maxStatements {
		if err := c.forget(); err != nil {
			return nil, wrap(err, readSQLiteError)
		}
	}
	stmt, err := c.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, wrap(err, readSQLiteError)
	}
	c.stmts[text] = stmt
	return stmt, nil
}

func (c *sqliteConn) exec(ctx context.Context, text string, args []any) (int64, error) {
	stmt, err := c.prepare(ctx, text)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, wrap(err, readSQLiteError)
	}
	changed, err := result.RowsAffected()
	return changed, wrap(err, readSQLiteError)
}

func (c *sqliteConn) queryRow(ctx context.Context, text string, args, dest []any) error {
	stmt, err := c.prepare(ctx, text)
	if err != nil {
		return err
	}
	return wrap(stmt.QueryRowContext(ctx, args...).Scan(dest...), readSQLiteError)
}

func (c *sqliteConn) each(ctx context.Context, text string, args []any, fn func(Rows) error) (err error) {
	stmt, err := c.prepare(ctx, text)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return wrap(err, readSQLiteError)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return wrap(rows.Err(), readSQLiteError)
}

// pipeline has nothing to save here: a statement is a call of a function.
func (c *sqliteConn) pipeline(ctx context.Context, list []query) error {
	for _, q := range list {
		var err error
		if q.row == nil {
			_, err = c.exec(ctx, q.text, q.args)
		} else {
			err = c.each(ctx, q.text, q.args, q.row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *sqliteConn) script(ctx context.Context, text string) error {
	_, err := c.conn.ExecContext(ctx, text)
	return wrap(err, readSQLiteError)
}
