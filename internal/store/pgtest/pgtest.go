// Package pgtest runs a PostgreSQL of the tests' own: a cluster in a temporary
// folder, on a free port of the loopback, that nothing outlives.
//
// It is not for what is tested on it (package storetest), and knows nothing of
// Rubicon's tables.
//
// Invariant: a server that was started ends with its starter, even when that
// is killed, and its folder goes with it.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Missing is what to do about binaries that are not there.
const Missing = "PostgreSQL 15's initdb and postgres are not on this machine: install them (Debian: apt-get install postgresql), " +
	"or name a server of your own in RUBICON_TEST_POSTGRES"

const (
	role      = "rubicon"
	startTime = 30 * time.Second
)

// Server is a running PostgreSQL.
type Server struct {
	dir    string
	port   int
	bin    string
	owner  *syscall.Credential // nil: whoever runs the test
	server *exec.Cmd
	alive  io.WriteCloser // the keeper ends with it
	log    string
	flush  bool
}

// Start makes a cluster and runs a server on it. It does not flush to disk: its
// data survives the death of processes, not that of the machine.
func Start() (*Server, error) { return start(false) }

// StartDurable is Start with a server that flushes to disk, as in earnest.
func StartDurable() (*Server, error) { return start(true) }

func start(flush bool) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, flush: flush}
	if s.owner, err = owner(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "rubicon-pg-"); err != nil {
		return nil, err
	}
	s.log = filepath.Join(s.dir, "log")
	if err := s.create(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	if err := s.Up(); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// binaries finds the folder with both programs.
func binaries() (string, error) {
	folders := filepath.SplitList(os.Getenv("PATH"))
	installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	for _, dir := range append(folders, installed...) {
		_, initdb := os.Stat(filepath.Join(dir, "initdb"))
		_, postgres := os.Stat(filepath.Join(dir, "postgres"))
		if initdb == nil && postgres == nil {
			return dir, nil
		}
	}
	return "", errors.New(Missing)
}

// owner is who runs the server: PostgreSQL refuses to run as root.
func owner() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	// A group of its own: what is typed at a terminal is for the tests.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner, Setpgid: true}
	return cmd
}

func (s *Server) create() error {
	if s.owner != nil {
		if err := os.Chown(s.dir, int(s.owner.Uid), int(s.owner.Gid)); err != nil {
			return err
		}
	}
	cmd := s.command(filepath.Join(s.bin, "initdb"), "-D", filepath.Join(s.dir, "data"), "-U", role, "-A", "trust", "-E", "UTF8",
		"--locale=C", "--no-sync")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// keeper runs the server and ends it when its input does: the starter may be
// killed, and then nobody else would.
const keeper = `
"$0" "$@" >>log 2>&1 </dev/null &
pid=$!
( trap '' INT TERM; cat >/dev/null; kill -QUIT $pid 2>/dev/null; while kill -0 $pid 2>/dev/null; do sleep 0.05; done; [ -e kept ] || rm -rf "$PWD" ) <&3 &
exec 3<&-
wait $pid
`

// Up starts the server, also again after Kill. It keeps its port.
func (s *Server) Up() error {
	if s.port == 0 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		s.port = l.Addr().(*net.TCPAddr).Port
		if err := l.Close(); err != nil {
			return err
		}
	}
	// While it is only being restarted, the folder stays.
	if err := os.WriteFile(filepath.Join(s.dir, "kept"), nil, 0o644); err != nil {
		return err
	}
	cmd := s.command("/bin/sh", append([]string{"-c", keeper}, s.arguments()...)...)
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	cmd.ExtraFiles = []*os.File{read}
	if err := cmd.Start(); err != nil {
		_ = write.Close()
		return err
	}
	s.server, s.alive = cmd, write
	if err := s.awaitUp(); err != nil {
		return err
	}
	return os.Remove(filepath.Join(s.dir, "kept"))
}

func (s *Server) arguments() []string {
	args := []string{filepath.Join(s.bin, "postgres"), "-D", "data", "-p", strconv.Itoa(s.port), "-h", "127.0.0.1", "-k", s.dir}
	settings := []string{"max_connections=400", "log_min_messages=warning", "max_wal_size=4GB"}
	if !s.flush {
		settings = append(settings, "fsync=off", "full_page_writes=off", "shared_buffers=64MB", "autovacuum_naptime=10s")
	}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return args
}

// awaitUp waits until the server takes a session.
func (s *Server) awaitUp() error {
	deadline := time.Now().Add(startTime)
	for {
		err := s.answers()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			out, _ := os.ReadFile(s.log)
			return fmt.Errorf("PostgreSQL does not come up: %w\n%s", err, tail(out))
		}
		// There is nothing to be told by: a server that comes up refuses.
		time.Sleep(20 * time.Millisecond)
	}
}

// answers sends a startup message and wants to be let in.
func (s *Server) answers() error {
	conn, err := net.DialTimeout("tcp", s.Addr(), time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	var m bytes.Buffer
	body := "\x00\x03\x00\x00user\x00" + role + "\x00database\x00postgres\x00\x00"
	m.Write([]byte{0, 0, 0, byte(len(body) + 4)})
	m.WriteString(body)
	if _, err := conn.Write(m.Bytes()); err != nil {
		return err
	}
	kind := make([]byte, 1)
	if _, err := io.ReadFull(conn, kind); err != nil {
		return err
	}
	if kind[0] != 'R' {
		return errors.New("it is starting up")
	}
	return nil
}

func tail(out []byte) []byte { return out[max(0, len(out)-2000):] }

// Addr is the server's address.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// URL names the server's first database.
func (s *Server) URL() string {
	return (&url.URL{Scheme: "postgres", User: url.User(role), Host: s.Addr(), Path: "/postgres"}).String()
}

// Kill ends the server and all of its processes with kill -9; Up starts it
// again on what it left.
func (s *Server) Kill() error { return s.end(syscall.SIGKILL) }

// Halt stops the server at once, as pg_ctl stop -m immediate does: without a
// checkpoint, so that the next Up recovers.
func (s *Server) Halt() error { return s.end(syscall.SIGQUIT) }

// Freeze and Thaw stop the server's processes in their tracks, and let them go
// on: a machine that hangs.
func (s *Server) Freeze() error {
	_, err := s.signal(syscall.SIGSTOP)
	return err
}

// Thaw is the end of Freeze.
func (s *Server) Thaw() error {
	_, err := s.signal(syscall.SIGCONT)
	return err
}

func (s *Server) end(sig syscall.Signal) error {
	if err := os.WriteFile(filepath.Join(s.dir, "kept"), nil, 0o644); err != nil {
		return err
	}
	pids, err := s.signal(sig)
	if err != nil {
		return err
	}
	_ = s.server.Wait() // it was killed
	// What is left of the keeper waits for this.
	return errors.Join(s.alive.Close(), gone(pids))
}

// signal reaches the postmaster and its children: each child is the leader of
// a session of its own, so there is no group to signal.
func (s *Server) signal(sig syscall.Signal) (pids []int, err error) {
	pids, err = s.processes()
	if err != nil {
		return nil, err
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return nil, err
		}
	}
	return pids, nil
}

// processes are the postmaster's and its children's, the postmaster first.
func (s *Server) processes() ([]int, error) {
	raw, err := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid"))
	if err != nil {
		return nil, err
	}
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	master, err := strconv.Atoi(string(line))
	if err != nil {
		return nil, err
	}
	pids := []int{master}
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	for _, path := range all {
		if fields := stat(path); len(fields) > 1 && string(fields[1]) == strconv.Itoa(master) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids, nil
}

// stat is what /proc says of a process behind its name: state, parent …; none
// if it is gone.
func stat(path string) [][]byte {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	_, rest, _ := bytes.Cut(raw, []byte(") "))
	return bytes.Fields(rest)
}

// gone waits until none of the processes runs: each of them keeps the memory
// that they share, and with it the next server from starting.
func gone(pids []int) error {
	deadline := time.Now().Add(startTime)
	for _, pid := range pids {
		for {
			fields := stat(fmt.Sprintf("/proc/%d/stat", pid))
			if len(fields) == 0 || string(fields[0]) == "Z" {
				break
			}
			if time.Now().After(deadline) {
				return errors.New("PostgreSQL does not go away")
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	return nil
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() error {
	if s.alive == nil {
		return os.RemoveAll(s.dir)
	}
	_, _ = s.signal(syscall.SIGQUIT) // it may be down already
	_ = s.server.Wait()
	return errors.Join(s.alive.Close(), os.RemoveAll(s.dir))
}

// LoseStandby makes every COMMIT wait for a standby that is not there, as with
// synchronous replication after the standby was lost. Reads go on.
func (s *Server) LoseStandby() error {
	if err := s.run("ALTER SYSTEM SET synchronous_standby_names = 'lost'", "SELECT pg_reload_conf()"); err != nil {
		return err
	}
	// The server's processes learn it one after the other.
	for deadline := time.Now().Add(startTime); time.Now().Before(deadline); {
		ctx, done := context.WithTimeout(context.Background(), 200*time.Millisecond)
		err := s.runIn(ctx, "SELECT pg_logical_emit_message(true, 'a', 'write')")
		done()
		if errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return errors.New("PostgreSQL does not wait for a standby")
}

// FindStandby is the end of LoseStandby.
func (s *Server) FindStandby() error {
	return s.run("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
}

// run runs statements, each by itself.
func (s *Server) run(texts ...string) error {
	ctx, done := context.WithTimeout(context.Background(), startTime)
	defer done()
	return s.runIn(ctx, texts...)
}

func (s *Server) runIn(ctx context.Context, texts ...string) error {
	conn, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, text := range texts {
		if _, err := conn.Exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}
