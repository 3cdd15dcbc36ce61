package store

import (
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	postgresReaders = 8
	// postgresWriters: while one waits for the server and its disk, the next
	// batch is on its way. More would only make the batches smaller.
	postgresWriters = 2
	connectTime     = outageWait
	closeTimeout    = time.Second
	answerTime      = outageWait
	// transactionTime bounds how long a transaction may take, from the first
	// exchange to the answer to COMMIT. Nobody waits for it so long: that is what
	// a connection is given before it is taken for lost.
	transactionTime = 8 * time.Second
)

// sessionSettings are what the gateway wants of every session, unless the URL
// says otherwise.
var sessionSettings = map[string]string{
	"application_name": "rubicon",
	// Durable means durable, whatever the server's default.
	"synchronous_commit": "on",
	// A node that hangs in a transaction must not keep the others waiting.
	"idle_in_transaction_session_timeout": "10s",
	"lock_timeout":                        "3s",
	"default_transaction_isolation":       "read committed",
	"jit":                                 "off",
}

// writerSettings: every statement of the writer finds its rows by a key, but
// the planner decides when the tables are still empty, and then keeps to it.
var writerSettings = map[string]string{"enable_seqscan": "off", "plan_cache_mode": "force_generic_plan"}

func postgresDialect(url string, o Options) (dialect, error) {
	if err := checkSync(o.Sync); err != nil {
		return dialect{}, err
	}
	if _, err := pgx.ParseConfig(url); err != nil {
		// pgx's own words repeat the URL, and only try to leave the password out.
		return dialect{}, fmt.Errorf("store.url: not a valid postgres:// URL")
	}
	return dialect{
		name:        "postgres",
		connector:   openPostgres,
		writeDSN:    url,
		readDSN:     url,
		readers:     postgresReaders,
		writers:     postgresWriters,
		shared:      true,
		arrays:      true,
		begin:       "BEGIN",
		beginRead:   "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
		forUpdate:   " FOR UPDATE",
		lockSchema:  "SELECT pg_advisory_xact_lock(7282426601)",
		migration:   collated,
		transaction: transactionTime,
		answer:      answerTime,
		outageWait:  outageWait,
	}, nil
}

func openPostgres(url string, writes bool) (connector, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	for name, value := range sessionSettings {
		setDefault(config.RuntimeParams, name, value)
	}
	if writes {
		for name, value := range writerSettings {
			setDefault(config.RuntimeParams, name, value)
		}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTime
	}
	return postgresServer{config}, nil
}

func setDefault(m map[string]string, name, value string) {
	if _, set := m[name]; !set {
		m[name] = value
	}
}

var textColumn = regexp.MustCompile(`\bTEXT NOT NULL\b`)

// collated makes text compare by its bytes, as SQLite and Go do: cursors and
// orders of ids must not depend on the language of the server.
func collated(migration string) string {
	return textColumn.ReplaceAllString(migration, `TEXT COLLATE "C" NOT NULL`)
}
