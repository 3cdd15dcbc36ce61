package architecture

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// contract is the page that says what the gateway promises.
const contract = "docs/contract.md"

var (
	// citation is how code, scenarios and documents name a page of docs, from the
	// root of the repository.
	citation = regexp.MustCompile(`\bdocs/[A-Za-z0-9_./-]+\.md(#[A-Za-z0-9_-]*)?`)
	// link is an inline link or a link definition of Markdown.
	link = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\s*\[[^\]]+\]:\s+<?(\S+?)>?(?:\s|$)`)
	// codePath is a path of the repository that a page sets as code. Placeholders
	// such as NNNN have capital letters.
	codePath = regexp.MustCompile("`((?:cmd|docs|internal|lock|test)/[a-z0-9_./-]+)`")
	// row is the line of a scenario that names the row it shows.
	row = regexp.MustCompile(`(?m)^row: *"?([0-9a-z]+)"?`)
	// loose are ways to cite the contract that no tool can follow.
	loose = regexp.MustCompile(`(?i)\bcontract(?:'s)?(?:\.md)?,? +\(?(?:section|§)|\bC§|\bcontract\.md +§|\binterfaces\.md`)
)

// TestCitations fails for each place that names a page or an anchor that does not
// exist, and for citations of the contract in another form.
func TestCitations(t *testing.T) {
	repo := repository(t)
	for _, fault := range dead(repo, texts(t, repo)) {
		t.Error(fault)
	}
}

// dead lists what is wrong with the citations of all files, each with its place.
func dead(repo fs.FS, files []file) []string {
	c := checker{repo: repo, pages: map[string]map[string]int{}}
	for _, f := range files {
		if path.Ext(f.path) == ".md" {
			c.pages[f.path] = anchors(f.text)
		}
	}
	for _, f := range files {
		c.check(f)
	}
	return c.faults
}

type checker struct {
	repo   fs.FS
	pages  map[string]map[string]int // anchors of every Markdown page
	faults []string
}

func (c *checker) check(f file) {
	for i, line := range strings.Split(f.text, "\n") {
		place := fmt.Sprintf("%s:%d", f.path, i+1)
		for _, cited := range citation.FindAllString(line, -1) {
			c.target(place, cited, cited)
		}
		if said := loose.FindString(line); said != "" && !strings.HasPrefix(f.path, "test/architecture/") {
			c.fault(place, "cites %q; the form is %s with the anchor behind #", said, contract)
		}
		for _, m := range row.FindAllStringSubmatch(line, -1) {
			if strings.HasPrefix(f.path, "lock/scenarios/") {
				c.target(place, "row "+m[1], contract+"#s3-row-"+m[1])
			}
		}
	}
	if path.Ext(f.path) == ".md" {
		c.links(f)
		c.codePaths(f)
		c.duplicates(f)
	}
}

// links checks the relative links of a page, which start at its own folder.
func (c *checker) links(f file) {
	for i, line := range prose(f.text) {
		for _, m := range link.FindAllStringSubmatch(span.ReplaceAllString(line, ""), -1) {
			to := m[1] + m[2]
			u, err := url.Parse(to)
			place := fmt.Sprintf("%s:%d", f.path, i+1)
			switch {
			case err != nil:
				c.fault(place, "links to %q: %v", to, err)
			case u.Scheme != "" || u.Host != "":
			case u.Path == "":
				c.target(place, to, f.path+"#"+u.Fragment)
			default:
				c.target(place, to, strings.TrimSuffix(path.Join(path.Dir(f.path), u.Path)+"#"+u.Fragment, "#"))
			}
		}
	}
}

// codePaths checks the paths from the root that a page names as code, as the
// change map of CONTRIBUTING.md does.
func (c *checker) codePaths(f file) {
	for i, line := range prose(f.text) {
		for _, m := range codePath.FindAllStringSubmatch(line, -1) {
			c.target(fmt.Sprintf("%s:%d", f.path, i+1), m[1], m[1])
		}
	}
}

// target checks that a page (or any file) from the root exists, and its anchor.
func (c *checker) target(place, cited, target string) {
	name, anchor, wanted := strings.Cut(target, "#")
	if _, err := fs.Stat(c.repo, path.Clean(name)); err != nil {
		c.fault(place, "names %s: there is no file %s", cited, name)
		return
	}
	if wanted && c.pages[path.Clean(name)][anchor] == 0 {
		c.fault(place, "names %s: there is no anchor #%s in %s", cited, anchor, name)
	}
}

// duplicates refuses an explicit anchor that stands twice, since a link finds the
// first one only.
func (c *checker) duplicates(f file) {
	seen := map[string]bool{}
	for i, line := range prose(f.text) {
		for _, m := range explicit.FindAllStringSubmatch(line, -1) {
			if seen[m[1]] {
				c.fault(fmt.Sprintf("%s:%d", f.path, i+1), "has the anchor #%s a second time", m[1])
			}
			seen[m[1]] = true
		}
	}
}

// fault notes what is wrong, once: a link may be a citation too.
func (c *checker) fault(place, format string, args ...any) {
	if text := place + " " + fmt.Sprintf(format, args...); !slices.Contains(c.faults, text) {
		c.faults = append(c.faults, text)
	}
}

// TestDead gives the checker a small repository in which every kind of fault
// occurs, beside citations that are right. Page names are taken apart here, since
// this file is checked too.
func TestDead(t *testing.T) {
	page := func(rest string) string { return "docs/" + rest }
	repo := fstest.MapFS{}
	var files []file
	add := func(name string, lines ...string) {
		text := strings.Join(lines, "\n")
		repo[name] = &fstest.MapFile{Data: []byte(text)}
		files = append(files, file{name, text})
	}
	add(page("contract.md"), `<a id="s3"></a>`, "## 3. May it run `again`?", `| <a id="s3-row-1"></a>1 |`, `<a id="s3"></a>`,
		"[good](#s3) [good](#3-may-it-run-again) [bad](#s4)", "```", "[an example](nowhere.md)", "```", "and `[x](nowhere.md)`")
	add("README.md", "[good](docs/contract.md#s3) [folder](docs) [far](https://example.com/x.md#y)", "[bad](nowhere.md)",
		"[ref]: "+page("contract.md")+"#s5",
		"`docs/contract.md` `internal/gone/far.go` `lock/declarations/NNNN-title.md`")
	add("code.go", "// good: "+page("contract.md")+"#s3-row-1.", "// bad: "+page("contract.md")+"#s3-row-99.", "// bad: "+page("gone.md"),
		"// loose: contract, section 3; RFC 6455, section 5 is not")
	add("lock/scenarios/a.yaml", `row: "1"`, `row: "77"`)

	want := []string{
		page("contract.md") + ":5 names #s4: there is no anchor #s4 in " + page("contract.md"),
		page("contract.md") + ":4 has the anchor #s3 a second time",
		"README.md:3 names " + page("contract.md") + "#s5: there is no anchor #s5 in " + page("contract.md"),
		"README.md:2 names nowhere.md: there is no file nowhere.md",
		"README.md:4 names internal/gone/far.go: there is no file internal/gone/far.go",
		"code.go:2 names " + page("contract.md") + "#s3-row-99: there is no anchor #s3-row-99 in " + page("contract.md"),
		"code.go:3 names " + page("gone.md") + ": there is no file " + page("gone.md"),
		`code.go:4 cites "contract, section"; the form is ` + page("contract.md") + " with the anchor behind #",
		"lock/scenarios/a.yaml:2 names row 77: there is no anchor #s3-row-77 in " + page("contract.md"),
	}
	if diff := cmp.Diff(want, dead(repo, files)); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}
