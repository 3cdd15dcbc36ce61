package protocol_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/protocol"
)

func TestCalls(t *testing.T) {
	type step func(*protocol.Calls, *protocol.Observed)
	made := func(name string) step { return func(c *protocol.Calls, s *protocol.Observed) { c.Made(s, name) } }
	told := func(usage string) step {
		return func(c *protocol.Calls, s *protocol.Observed) { c.ToldIn([]byte(usage), s) }
	}
	details := func(members string) step { return told(`{"server_side_tool_usage_details":{` + members + `}}`) }
	for _, c := range []struct {
		name  string
		steps []step
		want  map[string]int64
		ran   bool
	}{
		{"none", []step{made(""), told(`{}`), told(`null`), details(``)}, nil, false},
		{"made", []step{made("web_search"), made("web_search"), made("mcp")}, map[string]int64{"web_search": 2, "mcp": 1}, true},
		{"told", []step{details(`"web_search_calls":2,"x_search_calls":0,"mcp_calls":null,"x_posts_fetched":7`)}, map[string]int64{"web_search": 2, "x_posts_fetched": 7}, true},
		{"told after they were made", []step{made("web_search"), made("web_search"), made("web_search"), details(`"web_search_calls":2`)}, map[string]int64{"web_search": 2}, true},
		{"told before they are made", []step{details(`"web_search_calls":2`), made("web_search")}, map[string]int64{"web_search": 2}, true},
		{"told to be free", []step{made("web_search"), details(`"web_search_calls":0`)}, map[string]int64{}, true},
		{"what is not told is counted", []step{made("mcp"), details(`"web_search_calls":1`)}, map[string]int64{"web_search": 1, "mcp": 1}, true},
		{"the last word", []step{details(`"web_search_calls":3`), details(`"web_search_calls":1`)}, map[string]int64{"web_search": 1}, true},
		{"no count", []step{details(`"web_search_calls":true`)}, map[string]int64{"web_search": -1}, true},
	} {
		var calls protocol.Calls
		var seen protocol.Observed
		for _, s := range c.steps {
			s(&calls, &seen)
		}
		if d := cmp.Diff(c.want, seen.Hosted); d != "" || seen.Ran != c.ran {
			t.Errorf("%s: ran %v\n%s", c.name, seen.Ran, d)
		}
	}
}

func TestCallsAreBounded(t *testing.T) {
	var calls protocol.Calls
	var seen protocol.Observed
	for i := range 200 {
		calls.Told(&seen, strconv.Itoa(i), 1)
		calls.Made(&seen, "m"+strconv.Itoa(i))
	}
	if len(seen.Hosted) > 64 {
		t.Errorf("%d names are kept", len(seen.Hosted))
	}
}

// TestACallThatIsNoCountStays: nothing that comes later makes an anomaly good.
func TestACallThatIsNoCountStays(t *testing.T) {
	var s protocol.Observed
	s.Call("web_search", -1)
	s.Call("web_search", 2)
	if s.Hosted["web_search"] != -1 {
		t.Errorf("%v", s.Hosted)
	}
}
