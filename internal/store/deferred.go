package store

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
)

// InsertInto is a statement for Tx.Insert: INSERT INTO Table (Columns) VALUES
// … Conflict. It is a value to be declared once beside the table's other SQL.
type InsertInto struct {
	Table    string
	Columns  string // separated by commas
	Conflict string // "" or an ON CONFLICT clause
	// Last: the first column, text or bytes, is what Conflict is about, and of
	// two rows with the same value there the later one counts: one statement
	// cannot update a row twice. The rows are sent in the order of that column,
	// or two writers could wait for each other.
	Last bool
}

// DeleteFrom is a statement for Tx.Delete: DELETE FROM Table WHERE Column IN ….
type DeleteFrom struct {
	Table  string
	Column string
}

// AddTo is a statement for Tx.Add: UPDATE Table SET each of Columns = itself +
// a value WHERE Column = the row's first value.
type AddTo struct {
	Table   string
	Column  string
	Columns string // separated by commas
}

// shape is a statement that takes rows, however many. Its values are
// comparable.
type shape interface {
	list(d dialect, rows int) string // with a parameter for each value
}

// deferred is a shape that waits for more rows.
type deferred interface {
	shape
	width() int                   // values of a row
	arrays(types []string) string // with a parameter for each column, an array
	each() int                    // the most rows of one statement that lists them
}

// maxRows is the most rows of one statement that lists them. Rows are sent in
// powers of two, so that few different statements are prepared.
const maxRows = 64

func (i InsertInto) width() int { return strings.Count(i.Columns, ",") + 1 }
func (i InsertInto) each() int  { return maxRows }

func (i InsertInto) list(d dialect, rows int) string {
	row := "(?" + strings.Repeat(", ?", i.width()-1) + ")"
	return fmt.Sprintf("%s INTO %s (%s) VALUES %s %s", d.insert, i.Table, i.Columns, list(row, rows), i.Conflict)
}

func (i InsertInto) arrays(types []string) string {
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT * FROM unnest(%s) %s", i.Table, i.Columns, parameters(types), i.Conflict)
}

func (d DeleteFrom) width() int { return 1 }
func (d DeleteFrom) each() int  { return maxRows }

func (d DeleteFrom) list(_ dialect, rows int) string {
	return fmt.Sprintf("DELETE FROM %s WHERE %s IN (%s)", d.Table, d.Column, list("?", rows))
}

func (d DeleteFrom) arrays(types []string) string {
	return fmt.Sprintf("DELETE FROM %s WHERE %s = ANY(%s)", d.Table, d.Column, parameters(types))
}

func (a AddTo) columns() []string { return strings.Split(strings.ReplaceAll(a.Columns, " ", ""), ",") }
func (a AddTo) width() int        { return 1 + len(a.columns()) }
func (a AddTo) each() int         { return 1 }

func (a AddTo) list(dialect, int) string {
	var sets []string
	for i, c := range a.columns() {
		sets = append(sets, fmt.Sprintf("%s = %s + ?%d", c, c, i+2))
	}
	return fmt.Sprintf("UPDATE %s SET %s WHERE %s = ?1", a.Table, strings.Join(sets, ", "), a.Column)
}

func (a AddTo) arrays(types []string) string {
	var sets []string
	for _, c := range a.columns() {
		sets = append(sets, fmt.Sprintf("%s = t.%s + d.%s", c, c, c))
	}
	return fmt.Sprintf("UPDATE %s t SET %s FROM unnest(%s) AS d(row_key, %s) WHERE t.%s = d.row_key",
		a.Table, strings.Join(sets, ", "), parameters(types), a.Columns, a.Column)
}

func parameters(types []string) string {
	list := make([]string, len(types))
	for i, t := range types {
		list[i] = fmt.Sprintf("?::%s[]", t)
	}
	return strings.Join(list, ", ")
}

// Insert adds a row. It is sent with others like it before the commit, or at
// the next Flush; until then queries of the same transaction do not see it.
// Statements are sent in the order of their first use, inserts and additions
// before deletes.
func (tx *Tx) Insert(into InsertInto, row ...any) { tx.put(into, row) }

// Delete removes the rows where the column has the value, like Insert later
// and together with others.
func (tx *Tx) Delete(from DeleteFrom, value any) { tx.put(from, []any{value}) }

// Add adds values to the columns of the row whose column has the key, like
// Insert later and together with others. Until a Flush it is said once per key.
func (tx *Tx) Add(to AddTo, key any, values ...any) { tx.put(to, append([]any{key}, values...)) }

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
	tx.volume += volumeOf(row)
	for _, g := range tx.groups {
		if g.stmt == stmt {
			g.args = append(g.args, row...)
			return
		}
	}
	tx.groups = append(tx.groups, &group{stmt: stmt, args: append(tx.session.rowsOf(stmt), row...)})
}

// rowsOf is room for the rows of a statement, from the last transaction that
// had some: growing it anew each time would be a good part of the work.
func (s *session) rowsOf(stmt deferred) []any {
	room := s.rowBuffer[stmt]
	delete(s.rowBuffer, stmt)
	return room
}

// recycle keeps the room of the transaction's rows for the next one.
func (tx *Tx) recycle() {
	for _, g := range tx.groups {
		room := g.args[:cap(g.args)]
		clear(room) // or what was in it would live as long
		tx.session.rowBuffer[g.stmt] = room[:0]
	}
}

// Flush writes what is pending and sends the rows that wait.
func (tx *Tx) Flush() error {
	list, err := tx.waiting()
	if err != nil {
		return err
	}
	return tx.check(tx.session.conn.pipeline(tx.ctx, list))
}

// waiting is the statements for what is pending and for the rows that wait.
func (tx *Tx) waiting() ([]query, error) {
	for _, p := range tx.pending {
		if err := p.value.Flush(tx); err != nil {
			return nil, err
		}
	}
	var list []query
	for _, deletes := range []bool{false, true} {
		for _, g := range tx.groups {
			if _, is := g.stmt.(DeleteFrom); is == deletes {
				list = append(list, tx.session.statements(g)...)
				g.args = g.args[:0]
			}
		}
	}
	return list, nil
}

// statements is how the rows of a group travel.
func (s *session) statements(g *group) []query {
	args := g.args
	if into, ok := g.stmt.(InsertInto); ok && into.Last {
		args = lastRows(args, g.stmt.width())
	}
	if len(args) == 0 {
		return nil
	}
	if s.dialect.arrays {
		return []query{s.asArrays(g.stmt, args)}
	}
	var (
		out   []query
		width = g.stmt.width()
	)
	for len(args) > 0 {
		rows := min(g.stmt.each(), 1<<(bits.Len(uint(len(args)/width))-1))
		out = append(out, query{text: s.batchText(g.stmt, rows), args: args[:rows*width]})
		args = args[rows*width:]
	}
	return out
}

// lastRows leaves the last of the rows that begin with the same value, in the
// order of those values.
func lastRows(args []any, width int) []any {
	last := map[string][]any{}
	for row := range slices.Chunk(args, width) {
		last[keyOf(row)] = row
	}
	out := make([]any, 0, len(args))
	for _, key := range slices.Sorted(maps.Keys(last)) {
		out = append(out, last[key]...)
	}
	return out
}

func keyOf(row []any) string {
	if raw, ok := row[0].([]byte); ok {
		return string(raw)
	}
	return row[0].(string)
}

// asArrays turns rows into columns.
func (s *session) asArrays(stmt deferred, args []any) query {
	var (
		width   = stmt.width()
		types   = make([]string, width)
		columns = make([]any, width)
	)
	for c := range width {
		types[c], columns[c] = column(args, c, width)
	}
	key := batchKey{stmt: stmt, types: strings.Join(types, " ")}
	text, ok := s.texts[key]
	if !ok {
		text = stmt.arrays(types)
		s.texts[key] = text
	}
	return query{text: text, args: columns}
}

// column is one column of the rows as PostgreSQL's type and an array.
func column(args []any, first, width int) (string, any) {
	switch args[first].(type) {
	case string:
		return "text", cells[string](args, first, width)
	case []byte:
		return "bytea", cells[[]byte](args, first, width)
	case bool:
		return "boolean", cells[bool](args, first, width)
	case float64:
		return "double precision", cells[float64](args, first, width)
	case int64:
		return "bigint", cells[int64](args, first, width)
	case int:
		return "bigint", cells[int](args, first, width)
	}
	panic(fmt.Sprintf("store: a row with a %T", args[first]))
}

func cells[T any](args []any, first, width int) []T {
	out := make([]T, 0, len(args)/width)
	for i := first; i < len(args); i += width {
		out = append(out, args[i].(T))
	}
	return out
}

type batchKey struct {
	stmt  shape
	rows  int
	types string
}

func (s *session) batchText(stmt shape, rows int) string {
	key := batchKey{stmt: stmt, rows: rows}
	text, ok := s.texts[key]
	if !ok {
		text = stmt.list(s.dialect, rows)
		s.texts[key] = text
	}
	return text
}

func list(item string, n int) string { return item + strings.Repeat(", "+item, n-1) }
