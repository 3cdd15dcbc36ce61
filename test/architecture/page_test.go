package architecture

import (
	"regexp"
	"strings"
)

var (
	explicit = regexp.MustCompile(`<a id="([^"]*)"></a>`)
	heading  = regexp.MustCompile(`^#{1,6} +(.*?)[ #]*$`)
	span     = regexp.MustCompile("`[^`]*`")
	inLink   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	notSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// prose gives the lines of a Markdown page with code blocks blanked, so that line
// numbers stay and examples are no links.
func prose(text string) []string {
	lines := strings.Split(text, "\n")
	fence := ""
	for i, line := range lines {
		mark := fenceOf(line)
		switch {
		case fence != "" && mark == fence:
			fence = ""
		case fence == "" && mark != "":
			fence = mark
		case fence == "":
			continue
		}
		lines[i] = ""
	}
	return lines
}

func fenceOf(line string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(strings.TrimSpace(line), mark) {
			return mark
		}
	}
	return ""
}

// anchors counts the names in a Markdown page that a link may end in: the explicit
// ones, and those that GitHub makes of headings.
func anchors(text string) map[string]int {
	found := map[string]int{}
	for _, line := range prose(text) {
		for _, m := range explicit.FindAllStringSubmatch(line, -1) {
			found[m[1]]++
		}
		if m := heading.FindStringSubmatch(line); m != nil {
			found[slug(m[1])]++
		}
	}
	return found
}

// slug is GitHub's name of a heading.
func slug(heading string) string {
	plain := inLink.ReplaceAllString(explicit.ReplaceAllString(heading, ""), "$1")
	return strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(plain)), ""), " ", "-")
}
