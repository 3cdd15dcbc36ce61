package scenario

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing/synctest"
	"time"
)

// restart ends the gateway and starts it again on what it left.
func (st *installation) restart(how string) error {
	g := st.gateway
	switch how {
	case "stop":
		g.stop()
	case "kill":
		if err := st.kill(g); err != nil {
			return err
		}
	default:
		return fmt.Errorf("restart: stop or kill, not %q", how)
	}
	if err := <-g.done; err != nil && how == "stop" {
		return fmt.Errorf("stopping the gateway: %w", err)
	}
	st.gateway = nil
	// net/http looks for the end of its connections at random intervals: the
	// next life begins at the next tenth of a second, whenever that was seen.
	time.Sleep(100*time.Millisecond - time.Since(st.t0)%(100*time.Millisecond))
	return st.serve()
}

// kill leaves the gateway as SIGKILL does: what is in the files now is what the
// next life finds, and whatever the old one still does goes elsewhere.
func (st *installation) kill(g *running) error {
	synctest.Wait() // nothing is being written
	st.lives++
	next := filepath.Dir(st.database())
	if err := os.MkdirAll(next, 0o700); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(g.db + suffix)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(st.database()+suffix, data, 0o600); err != nil {
			return err
		}
	}
	st.journal.mute(true)
	defer st.journal.mute(false)
	g.conn.cut()
	g.stop()
	err := <-g.done
	g.done <- err
	return nil
}

// lockStore makes the database refuse writes, as a full disk does, or ends that:
// somebody else holds its write lock.
func (st *installation) lockStore(how string) error {
	if how == "unlock" {
		if st.locker == nil {
			return errors.New("the store is not locked")
		}
		err := st.locker.Close()
		st.locker = nil
		return err
	}
	if how != "lock" {
		return fmt.Errorf("store: lock or unlock, not %q", how)
	}
	db, err := sql.Open("sqlite", "file:"+st.database()+"?_pragma=busy_timeout(0)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	st.locker = db
	_, err = db.ExecContext(st.ctx, "BEGIN IMMEDIATE")
	return err
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
