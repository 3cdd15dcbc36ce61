package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"testing/synctest"
)

// restart ends the gateway and starts it again on what it left.
func (st *stage) restart(how string) error {
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
	return st.serve()
}

// kill leaves the gateway as SIGKILL does: what is in the files now is what the
// next life finds, and whatever the old one still does goes elsewhere.
func (st *stage) kill(g *running) error {
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

// lockStore makes the database refuse writes, as a full disk does, or ends that.
func (st *stage) lockStore(how string) error {
	return fmt.Errorf("store: %s is not known", how)
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
