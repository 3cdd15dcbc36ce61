package store

import (
	"fmt"
	"math/bits"
	"strings"
)

// InsertInto is a statement for Tx.Insert: INSERT INTO Table (Columns) VALUES
// … Conflict. It is a value to be declared once beside the table's other SQL.
type InsertInto struct {
	Table    string
	Columns  string // separated by commas
	Conflict string // "" or an ON CONFLICT clause
}

// DeleteFrom is a statement for Tx.Delete: DELETE FROM Table WHERE Column IN ….
type DeleteFrom struct {
	Table  string
	Column string
}

// deferred is a statement that can take many rows at once. Its values are
// comparable.
type deferred interface {
	width() int // parameters of a row
	text(d dialect, rows int) string
}

func (i InsertInto) width() int { return strings.Count(i.Columns, ",") + 1 }

func (i InsertInto) text(d dialect, rows int) string {
	row := "(?" + strings.Repeat(", ?", i.width()-1) + ")"
	return fmt.Sprintf("%s INTO %s (%s) VALUES %s %s", d.insert, i.Table, i.Columns, list(row, rows), i.Conflict)
}

func (d DeleteFrom) width() int { return 1 }

func (d DeleteFrom) text(_ dialect, rows int) string {
	return fmt.Sprintf("DELETE FROM %s WHERE %s IN (%s)", d.Table, d.Column, list("?", rows))
}

// Insert adds a row. It is sent with others like it before the commit, or at
// the next Flush; until then queries of the same transaction do not see it.
// Statements are sent in the order of their first use, inserts before deletes.
func (tx *Tx) Insert(into InsertInto, row ...any) { tx.put(into, row) }

// Delete removes the rows where the column has the value, like Insert later
// and together with others.
func (tx *Tx) Delete(from DeleteFrom, value any) { tx.put(from, []any{value}) }

// group is the rows that wait for one statement.
type group struct {
	stmt deferred
	args []any
}

func (tx *Tx) put(stmt deferred, row []any) {
	if len(row) != stmt.width() {
		// A mistake in the code, found by the first test that runs it.
		panic(fmt.Sprintf("store: %d values for %+v", len(row), stmt))
	}
	tx.writes++
	for _, g := range tx.groups {
		if g.stmt == stmt {
			g.args = append(g.args, row...)
			return
		}
	}
	tx.groups = append(tx.groups, &group{stmt: stmt, args: row})
}

// Flush writes what is pending and sends the rows that wait.
func (tx *Tx) Flush() error {
	for _, p := range tx.pending {
		if err := p.value.Flush(tx); err != nil {
			return err
		}
	}
	for _, g := range tx.groups {
		if _, deletes := g.stmt.(DeleteFrom); !deletes {
			if err := tx.send(g); err != nil {
				return err
			}
		}
	}
	for _, g := range tx.groups {
		if err := tx.send(g); err != nil {
			return err
		}
	}
	return nil
}

// maxRows is the most rows of one statement. Rows are sent in powers of two,
// so that few different statements are prepared.
const maxRows = 64

func (tx *Tx) send(g *group) error {
	args, width := g.args, g.stmt.width()
	g.args = g.args[:0]
	for len(args) > 0 {
		rows := min(maxRows, 1<<(bits.Len(uint(len(args)/width))-1))
		text := tx.session.batchText(g.stmt, rows)
		if _, err := tx.Exec(text, args[:rows*width]...); err != nil {
			return err
		}
		args = args[rows*width:]
	}
	return nil
}

type batchKey struct {
	stmt deferred
	rows int
}

func (s *session) batchText(stmt deferred, rows int) string {
	key := batchKey{stmt, rows}
	text, ok := s.texts[key]
	if !ok {
		text = stmt.text(s.dialect, rows)
		s.texts[key] = text
	}
	return text
}

func list(item string, n int) string { return item + strings.Repeat(", "+item, n-1) }
