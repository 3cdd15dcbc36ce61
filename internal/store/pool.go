package store

import (
	"context"
	"database/sql"
	"errors"
)

// pool is the sessions of one kind. Whoever needs one takes it out and gives
// it back. database/sql has a pool too, but prepares statements per connection
// anew in each transaction and cannot be waited for at the end.
type pool struct {
	dialect dialect
	db      *sql.DB
	free    chan *session
	opened  int
}

func newPool(d dialect, dsn string, size int) (*pool, error) {
	db, err := sql.Open(d.driver, dsn)
	if err != nil {
		return nil, err
	}
	return &pool{dialect: d, db: db, free: make(chan *session, size)}, nil
}

func (p *pool) fill(ctx context.Context) error {
	for p.opened < cap(p.free) {
		conn, err := p.db.Conn(ctx)
		if err != nil {
			return err
		}
		p.opened++
		p.give(newSession(conn, p.dialect))
	}
	return nil
}

func (p *pool) give(s *session) { p.free <- s }

// close waits until every session is back.
func (p *pool) close() error {
	var errs []error
	for range p.opened {
		s := <-p.free
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, p.db.Close())...)
}
