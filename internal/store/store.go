package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

var (
	// ErrClosed is returned for work that arrives after Close.
	ErrClosed = errors.New("the store is closed")
	// ErrConflict is what the violation of a unique constraint is, whichever
	// database reports it.
	ErrConflict = errors.New("already there")
	// ErrUnavailable is what the errors of a database are that is away, cannot
	// write, or was too busy: the same work may go well later.
	ErrUnavailable = errors.New("the database is not available")
	// ErrUncertain: the work was being committed when the connection was lost, or
	// the answer was not waited for any longer, so that nobody knows what came of
	// it. Whoever repeats the work must do so in a way that cannot double it.
	ErrUncertain = errors.New("the database did not answer a commit")
)

// Options are the choices an operator has.
type Options struct {
	// Sync is "process" (the default: survives kill -9 of the gateway and of
	// the database) or "full" (survives loss of power too). A PostgreSQL
	// server decides about its disk by itself.
	Sync string
	// Exclusive keeps a second process from opening an SQLite file so.
	Exclusive bool
}

const queueSize = 4096

// DB is an open database. Close it when its users have stopped.
type DB struct {
	dialect dialect
	writes  outage
	reads   outage    // PostgreSQL is away for both, an SQLite file for one alone
	lock    *fileLock // nil: not exclusive

	writing    *pool // the writers'
	reading    *pool // in memory the same one: readers and the writer take turns
	background *pool // the checkpointer's; nil where there is none
	pools      []*pool

	queue   chan *job
	due     chan struct{} // a checkpoint; closed after the writers
	closing chan struct{} // closed first: nobody may queue any more
	writers sync.WaitGroup
	stopped sync.WaitGroup // the other goroutines of this DB
	gate    sync.RWMutex   // held shared while queueing, so that close(queue) is safe
	once    sync.Once

	sinceCheckpoint int64       // bytes of the log; the writer's own
	hasMark         atomic.Bool // writers leave marks, see commit
}

// Open opens "sqlite:PATH", "sqlite::memory:" or "postgres://…" and starts the
// writer. The schema is not touched; call Migrate.
func Open(ctx context.Context, url string, o Options) (*DB, error) {
	d, err := dialectFor(url, o)
	if err != nil {
		return nil, err
	}
	return openDialect(ctx, d, o)
}

func openDialect(ctx context.Context, d dialect, o Options) (_ *DB, err error) {
	db := &DB{
		dialect: d,
		writes:  outage{patience: d.outageWait},
		reads:   outage{patience: d.outageWait},
		queue:   make(chan *job, queueSize),
		due:     make(chan struct{}, 1),
		closing: make(chan struct{}),
	}
	db.writes.other, db.reads.other = &db.reads, &db.writes
	db.reads.both = d.shared // a server that takes no session takes no writes
	if o.Exclusive && d.file != "" {
		if db.lock, err = lockFile(d.file + "-lock"); err != nil {
			return nil, err
		}
	}
	if err := db.connect(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the database: %w", err), db.disconnect())
	}
	for range d.writers {
		db.writers.Go(db.runWriter)
	}
	if db.background != nil {
		db.stopped.Go(db.runCheckpoints)
	}
	return db, nil
}

func (db *DB) connect(ctx context.Context) (err error) {
	if db.writing, err = db.open(ctx, db.dialect.writeDSN, true, db.dialect.writers); err != nil {
		return err
	}
	if db.dialect.readDSN == "" {
		db.reading = db.writing
		return nil
	}
	if db.dialect.checkpoint != "" {
		if db.background, err = db.open(ctx, db.dialect.writeDSN, true, 1); err != nil {
			return err
		}
	}
	db.reading, err = db.open(ctx, db.dialect.readDSN, false, db.dialect.readers)
	return err
}

func (db *DB) open(ctx context.Context, dsn string, writes bool, size int) (*pool, error) {
	c, err := db.dialect.connector(dsn, writes)
	if err != nil {
		return nil, err
	}
	o := &db.reads
	if writes {
		o = &db.writes
	}
	p := newPool(db.dialect, c, o, size)
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
		db.writers.Wait()
		close(db.due)
		db.stopped.Wait()
		db.forgetMarks()
		err = db.disconnect()
	})
	return err
}

func (db *DB) disconnect() error {
	var errs []error
	for _, p := range db.pools {
		errs = append(errs, p.close())
	}
	return errors.Join(append(errs, db.lock.release())...)
}

// Shared reports whether other processes may write to the same database at the
// same time.
func (db *DB) Shared() bool { return db.dialect.shared }

// Read runs fn on one consistent snapshot of what is committed.
func (db *DB) Read(ctx context.Context, fn func(q *Query) error) error {
	s, err := db.take(ctx, db.reading)
	if err != nil {
		return err
	}
	defer db.reading.give(s)
	return s.readOnly(ctx, fn)
}

// errSlow is a database that keeps somebody waiting for too long: it may as well
// be away.
var errSlow = &databaseError{cause: fmt.Errorf("no answer for %s", outageWait), means: databaseAway}

// ReadSoon is Read for what a client waits for: a database that does not answer
// soon is away.
func (db *DB) ReadSoon(ctx context.Context, fn func(q *Query) error) error {
	ctx, done := context.WithTimeoutCause(ctx, outageWait, errSlow)
	defer done()
	err := db.Read(ctx, fn)
	if err != nil && context.Cause(ctx) == error(errSlow) {
		return unavailable(err)
	}
	return err
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
	case s := <-p.idle:
		return s, nil
	}
}

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	return db.ReadSoon(ctx, func(q *Query) error {
		var one int
		return q.QueryRow("SELECT 1", nil, &one)
	})
}
