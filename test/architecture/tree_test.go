package architecture

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// file is one text of the repository, with its path from the root.
type file struct{ path, text string }

// repository is the folder of this module, as a file system.
func repository(t *testing.T) fs.FS {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return os.DirFS(dir)
		}
		above := filepath.Dir(dir)
		if above == dir {
			t.Fatal("no go.mod in this folder or above it")
		}
		dir = above
	}
}

// texts reads every file that people read and write: code, documents, scenarios
// and SQL. Folders that git ignores hold other people's files.
func texts(t *testing.T, repo fs.FS) []file {
	t.Helper()
	var found []file
	err := fs.WalkDir(repo, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && ignored(name):
			return fs.SkipDir
		case d.IsDir() || !isText(name):
			return nil
		}
		text, err := fs.ReadFile(repo, name)
		found = append(found, file{name, string(text)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func ignored(dir string) bool {
	base := path.Base(dir)
	return base == "node_modules" || dir == "bin" || base != "." && strings.HasPrefix(base, ".")
}

func isText(name string) bool {
	switch path.Ext(name) {
	case ".go", ".md", ".yaml", ".sql":
		return true
	}
	return false
}
