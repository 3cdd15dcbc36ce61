package config

import (
	"fmt"
	"net"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

// checker collects what is wrong between values that are each well-formed. It
// is a pure function of the configuration.
type checker struct{ problems []Problem }

func (k *checker) want(ok bool, path, format string, args ...any) {
	if !ok {
		k.problems = append(k.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

// Validate finds what a schema cannot see. Configurations of Load and Parse
// have passed it.
func (c *Config) Validate() []Problem {
	k := &checker{}
	k.listeners(c)
	k.store(c)
	k.want(c.Breaker.Open <= c.Breaker.OpenMax, "breaker.open_max", "must not be below breaker.open")
	k.want(c.Cooldown.Default <= c.Cooldown.Max, "cooldown.max", "must not be below cooldown.default")
	k.alerts(c.Alerts)
	k.origins(c.WS.Origins, "ws.origins")
	k.origins(c.CORS.Origins, "cors.origins")
	for i := range c.Channels {
		k.channel(c, i)
	}
	for i := range c.Models {
		k.model(c, i)
	}
	return k.problems
}

// origins are origins or hosts, with * for any part.
func (k *checker) origins(list []string, at string) {
	for i, origin := range list {
		_, err := path.Match(origin, "")
		k.want(origin != "" && isKey(origin) && err == nil, fmt.Sprintf("%s[%d]", at, i), "must be an origin like https://console.example.com")
	}
}

func (k *checker) listeners(c *Config) {
	const form = "must be host:port or :port, like 127.0.0.1:8080"
	k.want(isListen(c.Listen), "listen", form)
	k.want(isListen(c.Admin.Listen), "admin.listen", form)
	// Port 0 is any free port, so two of them do not collide.
	clash := c.Listen == c.Admin.Listen && !strings.HasSuffix(c.Listen, ":0")
	k.want(!clash, "admin.listen", "must differ from listen")
	k.want((c.TLS.Cert == "") == (c.TLS.Key == ""), "tls", "cert and key must both be set, or neither")
	token := c.Admin.Token.Reveal()
	k.want(token != "", "admin.token", "is required, for example ${RUBICON_ADMIN_TOKEN}")
	k.want(isKey(token), "admin.token", "must be printable ASCII without spaces")
}

func isListen(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil || !isKey(host) || strings.ContainsAny(host, "/@") {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// minLease: nodes beat several times in a lease, and a database that pauses
// for a moment must not kill them.
const minLease = time.Second

func (k *checker) store(c *Config) {
	k.want(c.Store.Lease >= minLease, "store.lease", "must be at least %s", minLease)
	k.want(isPrintable(c.Store.Spool), "store.spool", "must not hold control characters")
	raw := c.Store.URL.Reveal()
	if path, isSQLite := strings.CutPrefix(raw, "sqlite:"); isSQLite {
		k.want(path != "" && isPrintable(path), "store.url", "needs a file after sqlite:")
		return
	}
	if strings.HasPrefix(raw, "postgres://") || strings.HasPrefix(raw, "postgresql://") {
		// The parser's error would show the password.
		u, err := url.Parse(raw)
		k.want(err == nil && (u.Host != "" || u.Query().Has("host")), "store.url", "is not a valid postgres:// URL")
		return
	}
	k.want(false, "store.url", "must start with sqlite: or postgres://")
}

func (k *checker) alerts(a Alerts) {
	if a.Webhook.Empty() {
		return
	}
	u, err := url.Parse(a.Webhook.Reveal())
	ok := err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != ""
	k.want(ok, "alerts.webhook", "must be an http or https URL")
}

func (k *checker) channel(c *Config, i int) {
	ch, path := &c.Channels[i], fmt.Sprintf("channels[%d]", i)
	k.name(ch.Name, path+".name", isName)
	for j := range i {
		k.want(ch.Name == "" || c.Channels[j].Name != ch.Name, path+".name", "is taken by channels[%d]", j)
	}
	k.want(ch.Protocol != "", path+".protocol", "is required: responses, chat or messages")
	k.baseURL(ch.BaseURL, path+".base_url")
	k.want(ch.Origin == "" || isName(ch.Origin), path+".origin", nameForm)
	k.want(ch.Alias == "" || isName(ch.Alias), path+".alias", nameForm)
	for j, cred := range ch.Credentials {
		k.credential(ch, j, cred, fmt.Sprintf("%s.credentials[%d]", path, j))
	}
	for name, value := range ch.Headers {
		at := path + ".headers." + name
		k.want(!ownHeader(name), at, "is set by the gateway")
		k.want(len(ch.Credentials) == 0 || name != authHeader(ch.Auth), at, "is set by the channel's auth")
		k.want(isPrintable(value), at, "must not hold control characters")
	}
}

const nameForm = "must start with a letter or digit, go on with letters, digits and . _ - and have at most 64 characters"

func (k *checker) name(s, path string, ok func(string) bool) {
	k.want(s != "", path, "is required")
	k.want(s == "" || ok(s), path, nameForm)
}

func (k *checker) credential(ch *Channel, j int, cred Credential, path string) {
	k.name(cred.Name, path+".name", isName)
	for other := range j {
		taken := cred.Name != "" && ch.Credentials[other].Name == cred.Name
		k.want(!taken, path+".name", "is taken by credentials[%d]", other)
	}
	k.want(!cred.Key.Empty(), path+".key", "is empty")
	k.want(isKey(cred.Key.Reveal()), path+".key", "must be printable ASCII without spaces")
}

// baseURL never shows the URL: one with a password in it is among the mistakes.
func (k *checker) baseURL(raw, path string) {
	if raw == "" {
		k.want(false, path, "is required")
		return
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || !isKey(raw) {
		k.want(false, path, "must be an http or https URL like https://api.example.com/v1")
		return
	}
	k.want(u.User == nil, path, "must not hold a user or password (use credentials)")
	k.want(!strings.Contains(raw, "?"), path, "must not hold a query (use query)")
	k.want(!strings.Contains(raw, "#"), path, "must not hold a fragment")
	if port := u.Port(); port != "" {
		_, err := strconv.ParseUint(port, 10, 16)
		k.want(err == nil, path, "has a port that does not exist")
	}
}

func (k *checker) model(c *Config, i int) {
	m, path := &c.Models[i], fmt.Sprintf("models[%d]", i)
	k.want(m.Name != "", path+".name", "is required")
	k.want(m.Name == "" || isModelName(m.Name), path+".name",
		"must start with a letter or digit, go on with letters, digits and . _ - / : @ + and have at most 128 characters")
	for j := range i {
		k.want(m.Name == "" || c.Models[j].Name != m.Name, path+".name", "is taken by models[%d]", j)
	}
	k.want(len(m.Channels) > 0, path+".channels", "needs at least one channel")
	seen := map[*Channel]int{}
	for j, candidate := range m.Channels {
		at := fmt.Sprintf("%s.channels[%d]", path, j)
		upstream := candidate.UpstreamModel
		k.want(upstream != "" && isPrintable(upstream) && len(upstream) <= 256, at+".upstream_model",
			"must have 1 to 256 characters and no control characters")
		// Health, weights and the admin API know a candidate by its channel.
		if first, again := seen[candidate.Channel]; again && candidate.Channel != nil {
			k.want(false, at+".channel", "is listed by channels[%d] already; another upstream model needs a channel of its own", first)
			continue
		}
		seen[candidate.Channel] = j
	}
}
