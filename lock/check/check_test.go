package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const recording = `{
  "requests": [
    {"request": "1", "attempts": [{"channel": "a", "verdict": "replay", "reason": "replay_failed_event"}], "charge": "0.000350000"}
  ],
  "events": [{"at": "0s", "event": "response.created"}]
}
`

const declared = "---\nrecordings:\n  - row-01\n---\nRow 1 is not replayed any more, because it is an example.\n"

// repo is a temporary repository.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} { // as in a hook
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	r := &repo{t: t, dir: t.TempDir()}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r *repo) git(args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = r.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func (r *repo) write(path, content string) {
	r.t.Helper()
	full := filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) commit() {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "x")
}

// check runs the command and looks for words in what it says.
func (r *repo) check(code int, args []string, words ...string) {
	r.t.Helper()
	var out bytes.Buffer
	if got := run(args, r.dir, &out, &out); got != code {
		r.t.Errorf("exit code %d, want %d:\n%s", got, code, &out)
	}
	for _, w := range words {
		if !strings.Contains(out.String(), w) {
			r.t.Errorf("does not say %q:\n%s", w, &out)
		}
	}
}

// locked is a repository with two recordings committed and one commit on top.
func locked(t *testing.T) *repo {
	t.Helper()
	r := newRepo(t)
	r.write("lock/recordings/row-01.json", recording)
	r.write("lock/recordings/row-02.json", recording)
	r.write("lock/declarations/0001-old.md", "---\nrecordings: [row-02]\n---\nLong ago.\n")
	r.commit()
	r.commit()
	return r
}

// Flipping one verdict, one reason or one amount without a word about it fails.
func TestFlipsAreNotSilent(t *testing.T) {
	for _, flip := range [][2]string{{`"replay"`, `"deliver"`}, {"replay_failed_event", "stateful_store"}, {"0.000350000", "0.000350001"},
		{"response.created", "response.queued"}} {
		t.Run(flip[1], func(t *testing.T) {
			r := locked(t)
			r.check(0, nil, "2 recordings unchanged")
			r.write("lock/recordings/row-01.json", strings.Replace(recording, flip[0], flip[1], 1))
			r.check(1, nil, "row-01 changed", "- ", flip[0], "+ ", flip[1])
			r.commit()
			r.check(1, nil, "row-01 changed")
			r.check(1, []string{"--base", "HEAD~2"}, "row-01 changed")
		})
	}
}

func TestDeclaredChange(t *testing.T) {
	r := locked(t)
	r.write("lock/recordings/row-01.json", strings.Replace(recording, "replay", "deliver", 1))
	r.write("lock/declarations/0002-no-replay.md", declared)
	r.check(0, nil, "1 changed as declared", "as 0002-no-replay.md says")
	r.commit()
	r.check(0, nil, "1 changed as declared")
}

func TestOldDeclarationsCoverNothing(t *testing.T) {
	r := locked(t)
	r.write("lock/recordings/row-02.json", strings.Replace(recording, "replay", "deliver", 1))
	r.check(1, nil, "row-02 changed, and no new declaration")
	r.write("lock/declarations/0001-old.md", "---\nrecordings: [row-02]\n---\nLong ago, and again.\n")
	r.check(1, nil, "row-02 changed, and no new declaration")
}

func TestRemovedAndRenamed(t *testing.T) {
	r := locked(t)
	r.git("mv", "lock/recordings/row-01.json", "lock/recordings/row-01-new.json")
	r.check(1, nil, "row-01 is gone", "1 new")
	r.write("lock/declarations/0002-renamed.md", declared)
	r.check(0, nil, "row-01 is gone, as 0002-renamed.md says")
}

func TestNewRecordingsAreFree(t *testing.T) {
	r := locked(t)
	r.write("lock/recordings/row-03.json", recording)
	r.check(0, nil, "2 recordings unchanged, 1 new")
}

func TestIdleDeclarations(t *testing.T) {
	r := locked(t)
	r.write("lock/declarations/0002-idle.md", declared)
	r.check(1, nil, "0002-idle.md names row-01, which did not change")
	r.write("lock/declarations/0002-idle.md", strings.Replace(declared, "row-01", "row-99", 1))
	r.check(1, nil, "0002-idle.md names row-99, which there is not")
}

func TestBadDeclarations(t *testing.T) {
	for name, content := range map[string]string{
		"named like":            "",
		"must begin":            "No front matter.\n",
		"has no end":            "---\nrecordings: [row-01]\nNothing\n",
		"names no recording":    "---\nrecordings: []\n---\nWords.\n",
		"names a recording":     "---\nrecordings: [row-01, row-01.json]\n---\nWords.\n",
		"does not say":          "---\nrecordings: [row-01]\n---\n\n",
		"unknown field":         "---\nrecording: [row-01]\n---\nWords.\n",
		"have the same number ": "",
	} {
		t.Run(name, func(t *testing.T) {
			r := locked(t)
			file := "0002-x.md"
			switch name {
			case "named like":
				file, content = "2-x.md", declared
			case "have the same number ":
				file, content, name = "0001-x.md", declared, strings.TrimSpace(name)
			}
			r.write("lock/declarations/"+file, content)
			r.check(1, nil, name)
		})
	}
}

func TestBases(t *testing.T) {
	t.Run("one commit", func(t *testing.T) {
		r := newRepo(t)
		r.write("lock/recordings/row-01.json", recording)
		r.write("lock/declarations/0001-x.md", declared)
		r.commit()
		r.check(0, nil, "HEAD has no parent", "everything is new", "1 new")
	})
	t.Run("no commit", func(t *testing.T) {
		r := newRepo(t)
		r.write("lock/recordings/row-01.json", recording)
		r.check(0, nil, "everything is new")
	})
	t.Run("no lock at the base", func(t *testing.T) {
		r := newRepo(t)
		r.write("x", "y")
		r.commit()
		r.write("lock/recordings/row-01.json", recording)
		r.commit()
		r.check(0, nil, "there is no lock at", "everything is new")
	})
	t.Run("unknown", func(t *testing.T) {
		locked(t).check(2, []string{"--base", "nowhere"}, "--base nowhere is no revision here")
	})
	t.Run("from a folder below", func(t *testing.T) {
		r := locked(t)
		r.dir = filepath.Join(r.dir, "lock", "recordings")
		r.check(0, nil, "2 recordings unchanged")
	})
	t.Run("shallow clone", func(t *testing.T) {
		r := locked(t)
		shallow := &repo{t: t, dir: filepath.Join(t.TempDir(), "clone")}
		r.git("clone", "-q", "--depth", "1", "file://"+r.dir, shallow.dir)
		shallow.check(0, nil, "HEAD has no parent in this clone")
		shallow.write("lock/recordings/row-01.json", "{}\n")
		shallow.check(1, []string{"--base", "HEAD"}, "row-01 changed")
	})
	t.Run("a merge is compared with its first parent", func(t *testing.T) {
		r := locked(t)
		r.git("checkout", "-q", "-b", "topic")
		r.write("lock/recordings/row-01.json", strings.Replace(recording, "replay", "deliver", 1))
		r.commit()
		r.git("checkout", "-q", "main")
		r.commit()
		r.git("merge", "-q", "--no-ff", "-m", "m", "topic")
		r.check(1, nil, "row-01 changed")
	})
	t.Run("no repository", func(t *testing.T) {
		(&repo{t: t, dir: t.TempDir()}).check(2, nil, "not in a git work tree")
	})
}

func TestLongDifferences(t *testing.T) {
	r := newRepo(t)
	r.write("lock/recordings/row-01.json", strings.Repeat("a\n", 200))
	r.commit()
	r.commit()
	r.write("lock/recordings/row-01.json", strings.Repeat("b\n", 201))
	r.check(1, nil, "more lines (-full shows them)")
	var out bytes.Buffer
	run([]string{"-full"}, r.dir, &out, &out)
	if strings.Contains(out.String(), "more lines") || strings.Count(out.String(), "+ b") != 201 {
		t.Error("-full does not show everything")
	}
}

// A change that shows in many recordings is told once, with their names.
func TestEqualDifferencesAreOneGroup(t *testing.T) {
	r := locked(t)
	for _, name := range []string{"row-01", "row-02"} {
		r.write("lock/recordings/"+name+".json", strings.Replace(recording, "0.000350000", "0.000350001", 1))
	}
	r.write("lock/recordings/row-02.json", strings.NewReplacer("0.000350000", "0.000350001", "response.created", "response.queued").Replace(recording))
	r.check(1, nil, "in 2 recordings the same, as in row-01, row-02", "in row-02:")
	r.write("lock/declarations/0002-dearer.md", "---\nrecordings: [row-01, row-02]\n---\nA nano more.\n")
	r.check(0, []string{"-full"}, "in 2 recordings the same, as in row-01, row-02", "in row-02:")
}

// The form of recordings is no behaviour: what is written short says the same as
// what is written out.
func TestFormIsNoChange(t *testing.T) {
	r := locked(t)
	r.write("lock/form/usual.json", `{"first": {"at": "0s", "event": "response.created"}}`)
	r.write("lock/recordings/row-01.json", strings.Replace(recording, `{"at": "0s", "event": "response.created"}`, `{"like": "first"}`, 1))
	r.check(0, nil, "2 recordings unchanged")
	r.write("lock/form/usual.json", `{"first": {"at": "1s", "event": "response.created"}}`)
	r.check(1, nil, "row-01 changed")
}
