package store

import (
	"fmt"
	"math/bits"
)

// Preloader is a Pending that reads rows before the ops run: those that the ops of
// the transaction announced. All of them are read in one exchange and locked in
// the order of their keys, so that two writers cannot wait for each other.
type Preloader interface {
	Pending
	// Load calls tx.Preload for what was announced.
	Load(tx *Tx)
}

// SelectIn is a statement for Tx.Preload: SELECT Columns FROM Table WHERE Column
// IN …. No other transaction may change those rows until this one ends.
type SelectIn struct {
	Columns, Table, Column string
	// Keep is a weaker lock: other transactions may not delete the rows.
	Keep bool
}

// Preload reads the rows whose column has one of the keys. Only Load calls it; row
// is called once per row, after the Load of every Preloader has returned.
func (tx *Tx) Preload(from SelectIn, keys []string, row func(Rows) error) {
	if len(keys) == 0 {
		return
	}
	if tx.session.dialect.arrays {
		tx.preloads = append(tx.preloads, query{from.array(), []any{keys}, row})
		return
	}
	for len(keys) > 0 {
		n := min(maxRows, 1<<(bits.Len(uint(len(keys)))-1))
		args := make([]any, n)
		for i := range args {
			args[i] = keys[i]
		}
		tx.preloads = append(tx.preloads, query{tx.session.batchText(from, n), args, row})
		keys = keys[n:]
	}
}

func (s SelectIn) array() string {
	lock := "FOR UPDATE"
	if s.Keep {
		lock = "FOR KEY SHARE"
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s = ANY(?::text[]) ORDER BY %s %s", s.Columns, s.Table, s.Column, s.Column, lock)
}

func (s SelectIn) list(_ dialect, rows int) string {
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s IN (%s)", s.Columns, s.Table, s.Column, list("?", rows))
}

// start begins the transaction and runs the SELECTs of the Preloaders.
func (tx *Tx) start() error {
	for _, p := range tx.pending {
		if l, ok := p.value.(Preloader); ok {
			l.Load(tx)
		}
	}
	s := tx.session
	if len(tx.preloads) == 0 {
		return s.start(tx.ctx, s.dialect.begin)
	}
	list := append([]query{{text: s.dialect.begin}}, tx.preloads...)
	tx.preloads = nil
	return s.conn.pipeline(tx.ctx, list)
}
