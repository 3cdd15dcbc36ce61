package scenario

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
)

const (
	clientAddr = "gateway.test:80"
	adminAddr  = "admin.test:80"
	adminToken = "operator-token"
	publicName = "m" // the public model that requests name unless they say another
)

// usual is the configuration under which scenarios run, whatever they lay over
// it: a public model m on all channels of the scenario, in their order.
func (s *Scenario) usual() object {
	channels, candidates := object{}, object{}
	for i, name := range s.Channels() {
		host := name + ".test"
		if s.Upstream[name].Dead == unknown {
			host = name + ".invalid"
		}
		channels = append(channels, member{name, object{
			{"protocol", s.Protocol},
			{"base_url", "http://" + host + "/v1"},
			{"credentials", []any{object{{"name", "k1"}, {"key", "key-of-" + name}}}},
		}})
		candidates = append(candidates, member{name, object{
			{"upstream_model", modelOf(name)},
			{"priority", i},
			{"cost", object{{"input", "5"}, {"output", "25"}}},
		}})
	}
	return object{
		{"listen", clientAddr},
		{"admin", object{{"listen", adminAddr}, {"token", adminToken}}},
		{"channels", channels},
		{"models", object{{publicName, object{
			{"price", object{{"input", "10"}, {"cached_input", "1"}, {"cache_write", "12"}, {"output", "50"}}},
			{"channels", candidates},
		}}}},
	}
}

// modelOf is the upstream model of a channel, by which its provider finds the
// script.
func modelOf(channel string) string { return "up-" + channel }

// configuration is the whole rubicon.yaml as JSON, which is YAML too.
func (s *Scenario) configuration(dir string) (object, []byte, error) {
	c := s.usual().over(s.Config)
	text, err := plainJSON(listed(c).set("store", object{{"url", "sqlite:" + filepath.Join(dir, "lock.db")}}))
	return c, text, err
}

// listed turns the mappings by name, in which scenarios speak of channels and
// models, into the lists of the configuration.
func listed(c object) object {
	models, _ := c.get("models")
	var all object
	for _, m := range asObject(models) {
		candidates, _ := asObject(m.value).get("channels")
		all = append(all, member{m.key, asObject(m.value).set("channels", byName("channel", asObject(candidates)))})
	}
	channels, _ := c.get("channels")
	return c.set("channels", byName("name", asObject(channels))).set("models", byName("name", all))
}

func byName(field string, o object) []any {
	list := make([]any, len(o))
	for i, m := range o {
		list[i] = append(object{{field, m.key}}, asObject(m.value)...)
	}
	return list
}

func asObject(v any) object {
	o, _ := v.(object)
	return o
}

// hosts gives the addresses of all channels and who stands there: several
// channels may share one host.
func hosts(config object) (map[string][]string, error) {
	channels, _ := config.get("channels")
	out := map[string][]string{}
	for _, c := range asObject(channels) {
		base, _ := asObject(c.value).get("base_url")
		u, err := url.Parse(fmt.Sprint(base))
		if err != nil {
			return nil, err
		}
		addr := u.Host
		if !strings.Contains(addr, ":") {
			addr = net.JoinHostPort(addr, "80")
		}
		out[addr] = append(out[addr], c.key)
	}
	return out, nil
}
