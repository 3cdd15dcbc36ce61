package pgtest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Env names the server that all test processes share; `go run
// ./internal/store/pgtest/with -- go test ./...` sets it.
const Env = "RUBICON_TEST_POSTGRES"

// shared is the server of this process, where nobody named one. It ends with
// the process.
var shared = sync.OnceValues(Start)

// serverURL names a server, or says what to install.
func serverURL() (string, error) {
	if named := os.Getenv(Env); named != "" {
		return named, nil
	}
	s, err := shared()
	if err != nil {
		return "", err
	}
	return s.URL(), nil
}

// Ready starts the server if nobody named one. Tests inside a bubble cannot do
// that: their time stands still meanwhile.
func Ready() error {
	_, err := serverURL()
	return err
}

// Database gives the URL of an empty database that no other test sees. It is a
// schema of the shared server's, which costs a hundredth of a database.
func Database(tb testing.TB) string {
	tb.Helper()
	server, err := serverURL()
	if err != nil {
		tb.Fatal(err)
	}
	return On(tb, server)
}

// On makes such a database on a certain server.
func On(tb testing.TB, server string) string {
	tb.Helper()
	name := "t_" + strings.ToLower(rand.Text()[:16])
	run(tb, server, "CREATE SCHEMA "+name)
	tb.Cleanup(func() {
		// A server that its test has killed for good took it along.
		ctx, done := context.WithTimeout(context.Background(), 10*time.Second)
		defer done()
		if conn, err := pgx.Connect(ctx, server); err == nil {
			_, _ = conn.Exec(ctx, "DROP SCHEMA "+name+" CASCADE")
			_ = conn.Close(ctx)
		}
	})
	u, err := url.Parse(server)
	if err != nil {
		tb.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

func run(tb testing.TB, server, text string) {
	tb.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, text); err != nil {
		tb.Fatal(err)
	}
}
