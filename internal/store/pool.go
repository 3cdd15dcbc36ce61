package store

import (
	"context"
	"errors"
)

// pool is the sessions of one kind. Whoever needs one takes it out and gives
// it back.
type pool struct {
	dialect   dialect
	connector connector
	outage    *outage
	idle      chan *session
	opened    int
}

func newPool(d dialect, c connector, o *outage, size int) *pool {
	return &pool{dialect: d, connector: c, outage: o, idle: make(chan *session, size)}
}

func (p *pool) fill(ctx context.Context) error {
	for p.opened < cap(p.idle) {
		s := newSession(p.dialect, p.connector, p.outage)
		if err := s.connect(ctx); err != nil {
			return err
		}
		p.opened++
		p.give(s)
	}
	return nil
}

func (p *pool) give(s *session) { p.idle <- s }

// close waits until every session is back.
func (p *pool) close() error {
	var errs []error
	for range p.opened {
		s := <-p.idle
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, p.connector.close())...)
}
