// Package store opens the database, migrates it, and runs work on it: one
// writer with group commit, and readers beside it.
//
// It is for connections, transactions and the differences between databases.
// It is not for tables: their SQL lives with the packages that own them.
// Statements are written once for all databases, with ? for parameters.
//
// Invariant: when Write returns nil, everything its op did is durable; when it
// returns an error, nothing of it is.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// ErrClosed is returned for work that arrives after Close.
var ErrClosed = errors.New("the store is closed")

// ErrConflict is what the violation of a unique constraint is, whichever
// database reports it.
var ErrConflict = errors.New("already there")

// Options are the choices an operator has.
type Options struct {
	// Sync is "process" (the default: survives kill -9 of the gateway) or
	// "full" (survives loss of power too).
	Sync string
}

const (
	readers   = 4
	queueSize = 4096
)

// DB is an open database. Close it when its users have stopped.
type DB struct {
	dialect dialect
	pools   []*sql.DB

	// Sessions wait here until somebody needs one. A database in memory has a
	// single session, and then both channels are the same one: readers and the
	// writer take turns.
	writing chan *session
	reading chan *session
	moving  chan *session // the checkpointer's; nil where there is none

	due     chan struct{} // a checkpoint; closed by the writer
	queue   chan *job
	closing chan struct{}  // closed first: nobody may queue any more
	stopped sync.WaitGroup // the goroutines of this DB
	gate    sync.RWMutex   // held shared while queueing, so that close(queue) is safe
	once    sync.Once

	sinceCheckpoint int // rows; the writer's own
}

// Open opens "sqlite:PATH" or "sqlite::memory:" and starts the writer. The
// schema is not touched; call Migrate.
func Open(ctx context.Context, url string, o Options) (*DB, error) {
	d, err := dialectFor(url, o)
	if err != nil {
		return nil, err
	}
	db := &DB{
		dialect: d,
		writing: make(chan *session, 1),
		due:     make(chan struct{}, 1),
		queue:   make(chan *job, queueSize),
		closing: make(chan struct{}),
	}
	if err := db.connect(ctx); err != nil {
		return nil, errors.Join(err, db.disconnect())
	}
	db.stopped.Go(db.runWriter)
	if db.moving != nil {
		db.stopped.Go(db.runCheckpoints)
	}
	return db, nil
}

func (db *DB) connect(ctx context.Context) error {
	if err := db.addSessions(ctx, db.dialect.writeDSN, db.writing, 1); err != nil {
		return err
	}
	if db.dialect.readDSN == "" {
		db.reading = db.writing
		return nil
	}
	if db.dialect.checkpoint != "" {
		db.moving = make(chan *session, 1)
		if err := db.addSessions(ctx, db.dialect.writeDSN, db.moving, 1); err != nil {
			return err
		}
	}
	db.reading = make(chan *session, readers)
	return db.addSessions(ctx, db.dialect.readDSN, db.reading, readers)
}

func (db *DB) addSessions(ctx context.Context, dsn string, to chan<- *session, n int) error {
	pool, err := sql.Open(db.dialect.driver, dsn)
	if err != nil {
		return fmt.Errorf("opening the database: %w", err)
	}
	db.pools = append(db.pools, pool)
	for range n {
		conn, err := pool.Conn(ctx)
		if err != nil {
			return fmt.Errorf("opening the database: %w", err)
		}
		to <- newSession(conn, db.dialect)
	}
	return nil
}

// Close runs what is queued, stops the writer and closes the database. It
// waits for reads that are under way.
func (db *DB) Close() error {
	var err error
	db.once.Do(func() {
		close(db.closing)
		db.gate.Lock()
		close(db.queue)
		db.gate.Unlock()
		db.stopped.Wait()
		err = db.disconnect()
	})
	return err
}

func (db *DB) disconnect() error {
	var errs []error
	closeAll := func(sessions chan *session) {
		for range cap(sessions) {
			select {
			case s := <-sessions:
				errs = append(errs, s.close())
			default: // never opened
			}
		}
	}
	closeAll(db.writing)
	closeAll(db.reading)
	closeAll(db.moving)
	for _, pool := range db.pools {
		errs = append(errs, pool.Close())
	}
	return errors.Join(errs...)
}

// Read runs fn on one consistent snapshot of what is committed.
func (db *DB) Read(ctx context.Context, fn func(q *Query) error) error {
	var s *session
	select {
	case <-db.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case s = <-db.reading:
	}
	defer func() { db.reading <- s }()
	return s.readOnly(ctx, fn)
}

// Ping tells whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	return db.Read(ctx, func(q *Query) error {
		var one int
		return q.QueryRow("SELECT 1", nil, &one)
	})
}
