// Command with runs a command with a PostgreSQL that lives as long as it does:
//
//	go run ./internal/store/pgtest/with -- go test ./...
//
// The command finds it in RUBICON_TEST_POSTGRES. A server that is named there
// already is used as it is. With -durable before the command the server flushes
// to disk, for measurements.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"rubicon/internal/store/pgtest"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "with:", err)
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	start := pgtest.Start
	if len(args) > 0 && args[0] == "-durable" {
		start, args = pgtest.StartDurable, args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return 2, errors.New("want a command, as in: with -- go test")
	}
	if os.Getenv(pgtest.Env) == "" {
		server, err := start()
		if err != nil {
			return 1, err
		}
		defer func() { err = errors.Join(err, server.Stop()) }()
		if err := os.Setenv(pgtest.Env, server.URL()); err != nil {
			return 1, err
		}
	}
	// The command gets the terminal's signals too and ends by itself. They are
	// caught, not ignored: it would inherit that.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
