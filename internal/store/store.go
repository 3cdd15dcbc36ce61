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

	writing *pool // one session: the writer's
	reading *pool // in memory the same one: readers and the writer take turns
	moving  *pool // the checkpointer's; nil where there is none
	pools   []*pool

	queue   chan *job
	due     chan struct{}  // a checkpoint; closed by the writer
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
		queue:   make(chan *job, queueSize),
		due:     make(chan struct{}, 1),
		closing: make(chan struct{}),
	}
	if err := db.connect(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the database: %w", err), db.disconnect())
	}
	db.stopped.Go(db.runWriter)
	if db.moving != nil {
		db.stopped.Go(db.runCheckpoints)
	}
	return db, nil
}

func (db *DB) connect(ctx context.Context) (err error) {
	if db.writing, err = db.open(ctx, db.dialect.writeDSN, 1); err != nil {
		return err
	}
	if db.dialect.readDSN == "" {
		db.reading = db.writing
		return nil
	}
	if db.dialect.checkpoint != "" {
		if db.moving, err = db.open(ctx, db.dialect.writeDSN, 1); err != nil {
			return err
		}
	}
	db.reading, err = db.open(ctx, db.dialect.readDSN, readers)
	return err
}

func (db *DB) open(ctx context.Context, dsn string, size int) (*pool, error) {
	p, err := newPool(db.dialect, dsn, size)
	if err != nil {
		return nil, err
	}
	db.pools = append(db.pools, p)
	return p, p.fill(ctx)
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
	for _, p := range db.pools {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}

// Read runs fn on one consistent snapshot of what is committed.
func (db *DB) Read(ctx context.Context, fn func(q *Query) error) error {
	s, err := db.take(ctx, db.reading)
	if err != nil {
		return err
	}
	defer db.reading.give(s)
	return s.readOnly(ctx, fn)
}

// take waits for a session, but not beyond ctx or Close.
func (db *DB) take(ctx context.Context, p *pool) (*session, error) {
	select {
	case <-db.closing:
		return nil, ErrClosed
	default:
	}
	select {
	case <-db.closing:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case s := <-p.free:
		return s, nil
	}
}

// Ping tells whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	return db.Read(ctx, func(q *Query) error {
		var one int
		return q.QueryRow("SELECT 1", nil, &one)
	})
}
