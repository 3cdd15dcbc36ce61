// Package demo is the gateway's main job on embedded parts, in one process and
// over real sockets: two scripted providers, the gateway with its database in a
// temporary folder, a customer with credit. It shows a stream that fails before
// output and is replayed unseen, and one that is cut after output and reported.
//
// It is for a first look and for a smoke test; it measures nothing. What it
// prints is read from the wire and from the admin API, nothing is made up.
package demo

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"

	"rubicon/internal/api/explain"
	"rubicon/internal/app"
	"rubicon/internal/config"
	"rubicon/internal/lab/sim"
)

// Options set up a demo.
type Options struct {
	Out     io.Writer
	Once    bool // end after the show
	Version string
}

// Run shows the main job, then serves until ctx ends (unless Once). It fails
// when the gateway did not do what the show is about. To be interrupted is its
// usual end, and no failure in the middle of the show either; with Once it is
// one, because who asks for that wants to know whether all was shown.
func Run(ctx context.Context, o Options) error {
	err := run(ctx, o)
	if ctx.Err() == nil || err == nil {
		return err
	}
	if o.Once {
		return fmt.Errorf("interrupted before the show was over: %w", err)
	}
	return nil
}

func run(ctx context.Context, o Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	dir, err := os.MkdirTemp("", "rubicon-demo-")
	if err != nil {
		return fmt.Errorf("making a temporary folder: %w", err)
	}
	defer os.RemoveAll(dir)
	s := &installation{out: o.Out, ctx: ctx}
	defer s.wg.Wait()
	defer stop()
	if err := s.build(dir, o.Version); err != nil {
		return err
	}
	if err := s.show(); err != nil {
		return err
	}
	if o.Once {
		return nil
	}
	s.printCommand()
	<-ctx.Done()
	return nil
}

// installation is the running parts.
type installation struct {
	out   io.Writer
	ctx   context.Context // lives as long as Run; the stage does not outlive it
	wg    sync.WaitGroup
	app   *app.App
	token string
	admin *operator
	key   string
	cust  string
}

// build starts the providers and the gateway, and makes the customer.
func (s *installation) build(dir, version string) error {
	alpha, err := s.provider("alpha", failing)
	if err != nil {
		return err
	}
	beta, err := s.provider("beta", steady)
	if err != nil {
		return err
	}
	s.token = secret()
	cfg, err := config.Parse([]byte(configuration(alpha, beta, filepath.Join(dir, "demo.db"), s.token)), os.LookupEnv)
	if err != nil {
		return fmt.Errorf("the demo's own configuration: %w", err)
	}
	if s.app, err = app.New(s.ctx, cfg, app.Options{Version: version}); err != nil {
		return err
	}
	s.wg.Go(func() { _ = s.app.Run(s.ctx) })
	s.admin = &operator{base: "http://" + s.app.AdminAddr(), token: s.token}
	return s.customer()
}

// provider starts a scripted provider on a free port of this machine.
func (s *installation) provider(name string, scripts map[string]sim.Script) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listening for provider %s: %w", name, err)
	}
	p := sim.New(sim.Options{Scripts: scripts, Seed: name})
	s.wg.Go(func() { _ = p.Serve(s.ctx, l) })
	return "http://" + l.Addr().String() + "/v1", nil
}

// customer makes a customer with 10 USD and a key.
func (s *installation) customer() (err error) {
	var made struct{ ID, Key string }
	if err := s.admin.post(s.ctx, "/admin/v1/customers", map[string]any{"name": "demo"}, &made); err != nil {
		return err
	}
	s.cust = made.ID
	if err := s.admin.post(s.ctx, "/admin/v1/customers/"+s.cust+"/keys", map[string]any{"name": "demo"}, &made); err != nil {
		return err
	}
	s.key = made.Key
	return s.admin.post(s.ctx, "/admin/v1/customers/"+s.cust+"/credits", map[string]any{"amount": "10.00", "reason": "demo"}, nil)
}

// show plays the scenes.
func (s *installation) show() error {
	s.print("Rubicon: the first output event is the point of no return.\n")
	s.print("\nTwo scripted providers (alpha, beta) stand behind one public model; a customer has 10 USD.\n")
	for _, sc := range scenes {
		if err := s.runStep(sc); err != nil {
			return fmt.Errorf("%s: %w", sc.model, err)
		}
	}
	ok, n, err := s.admin.verify(s.ctx)
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("the ledger does not add up")
	}
	s.print("\nThe ledger adds up: %d transactions recomputed.\n", n)
	return nil
}

func (s *installation) runStep(sc demoStep) error {
	s.print("\n── %s\n   %s\n\n", sc.title, sc.what)
	before, err := s.admin.balance(s.ctx, s.cust)
	if err != nil {
		return err
	}
	seen, err := ask(s.ctx, s.app.ClientAddr(), s.key, sc.model)
	if err != nil {
		return err
	}
	s.print("   What the client saw (%s):\n", seen.requestID)
	for _, line := range seen.lines {
		s.print("     %s\n", line)
	}
	rec, transactions, err := s.admin.record(s.ctx, seen.requestID)
	if err != nil {
		return err
	}
	s.print("\n%s\n", indent(explain.Text(rec, transactions)))
	after, err := s.admin.balance(s.ctx, s.cust)
	if err != nil {
		return err
	}
	s.print("   Balance: %s before, %s after.\n", before, after)
	return sc.expect(seen, rec)
}

// printCommand says how to go on by hand.
func (s *installation) printCommand() {
	s.print(`
The gateway stays up until Ctrl-C. Talk to it:

  curl -N http://%s/v1/responses \
    -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' \
    -d '{"model":"demo/replayed","input":"Hello","stream":true}'

Models: demo/replayed, demo/cut, demo/steady. The operator's side, in another shell
(rubicon is bin/rubicon after make build, or go run ./cmd/rubicon):

  export RUBICON_ADMIN_URL=http://%s RUBICON_ADMIN_TOKEN=%s
  rubicon explain REQUEST_ID    (the x-request-id of an answer)
  rubicon channel list
  rubicon verify
`, s.app.ClientAddr(), s.key, s.app.AdminAddr(), s.token)
}

func (s *installation) print(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

func secret() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}
