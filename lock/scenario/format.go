package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"rubicon/internal/lab/sim"
)

// Scenario is one file of lock/scenarios.
type Scenario struct {
	Title     string              `yaml:"title"`
	Why       string              `yaml:"why"`
	Row       string              `yaml:"row"`      // of the table docs/contract.md#s3, for the list in the README
	Protocol  string              `yaml:"protocol"` // of all channels that do not say another: responses
	Config    object              `yaml:"config"`   // laid over the usual configuration
	Customers map[string]Customer `yaml:"customers"`
	Upstream  map[string]Upstream `yaml:"upstream"`
	Request   *Request            `yaml:"request"` // short for steps with this one request
	Steps     []Step              `yaml:"steps"`
	Twin      string              `yaml:"twin"`   // why it has no WebSocket twin
	Fault     string              `yaml:"fault"`  // choosing: every choice of a replacement fails inside the gateway
	Logged    int                 `yaml:"logged"` // how many errors the gateway logs
	Broken    string              `yaml:"broken"` // why an invariant that every scenario keeps does not hold here
	Expect    Expect              `yaml:"expect"`

	Name string `yaml:"-"` // the file's, without .yaml; of another protocol than the first with that behind a dot
	File string `yaml:"-"` // the file's, without .yaml
}

// Upstream is what stands behind a channel: a script in the simulator's
// language, or nobody.
type Upstream struct {
	Script sim.Script
	Dead   string // "refused": nobody listens; "silent": a dial never ends; "unknown": no such name
}

// UnmarshalYAML reads a script or one of the words.
func (u *Upstream) UnmarshalYAML(data []byte) error {
	switch word := strings.TrimSpace(string(data)); word {
	case refused, silent, unknown:
		u.Dead = word
		return nil
	}
	return u.Script.UnmarshalYAML(data)
}

const (
	refused = "refused"
	silent  = "silent"
	unknown = "unknown"
)

// Step is one thing that happens; exactly one field is set.
type Step struct {
	Request  *Request  `yaml:"request"`  // and its end is awaited
	Start    *Request  `yaml:"start"`    // goes on while the next steps run
	Together []Request `yaml:"together"` // a millisecond apart, all awaited
	Await    string    `yaml:"await"`    // the end of a started request
	Wait     Duration  `yaml:"wait"`
	Admin    *Admin    `yaml:"admin"`
	Restart  string    `yaml:"restart"` // stop: as on SIGTERM; kill: as on SIGKILL
	Store    string    `yaml:"store"`   // lock: the database takes no writes; unlock
}

// Request is one call of a client.
type Request struct {
	Name     string            `yaml:"name"`    // by which others speak of it; its number in the file otherwise
	Surface  string            `yaml:"surface"` // responses, responses.ws, compact, input_tokens, chat, embeddings, messages, count_tokens
	Call     string            `yaml:"call"`    // METHOD /path, for what is no surface; then body is the whole body
	Customer string            `yaml:"customer"`
	Key      *string           `yaml:"key"` // another key than the customer's; "" none
	Headers  map[string]string `yaml:"headers"`
	Body     object            `yaml:"body"` // laid over the usual body of the surface; null takes a field away
	Raw      *string           `yaml:"raw"`  // the body as it is
	Pad      int               `yaml:"pad"`  // input of so many bytes
	Leave    *Leave            `yaml:"leave"`
	Socket   string            `yaml:"socket"` // WebSocket: requests with the same word share a connection
	Binary   bool              `yaml:"binary"` // WebSocket: in a binary frame
	Expect   Expect            `yaml:"expect"`
}

// Leave is when the client hangs up.
type Leave struct {
	Events int      `yaml:"events"` // after so many events
	After  Duration `yaml:"after"`  // so long after it was sent
}

// Admin is one call of the operator.
type Admin struct {
	Call   string `yaml:"call"` // METHOD /path
	Body   object `yaml:"body"`
	Status int    `yaml:"status"` // 200 or 201 unless said
}

// Duration is written as Go does.
type Duration time.Duration

// UnmarshalYAML reads 10s, 1.5s, 200ms.
func (d *Duration) UnmarshalYAML(data []byte) error {
	v, err := time.ParseDuration(strings.TrimSpace(string(data)))
	*d = Duration(v)
	return err
}

var fileName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*\.yaml$`)

// LoadAll reads every scenario of a folder, by name, each as often as it has
// protocols.
func LoadAll(dir string) ([]*Scenario, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	sort.Strings(files)
	var all []*Scenario
	var errs []error
	for _, f := range files {
		of, err := Load(f)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", filepath.Base(f), err))
			continue
		}
		all = append(all, of...)
	}
	return all, errors.Join(errs...)
}

// Load reads one file, strictly: a scenario for each of its protocols.
func Load(path string) ([]*Scenario, error) {
	if !fileName.MatchString(filepath.Base(path)) {
		return nil, errors.New("a scenario is named like row-01-failed-event.yaml")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(path), ".yaml")
	all, err := Parse(data)
	for i, s := range all {
		s.Name, s.File = name, name
		if i > 0 {
			s.Name += "." + s.Protocol
		}
	}
	return all, err
}

// Parse reads the text of a file.
func Parse(data []byte) ([]*Scenario, error) {
	texts, err := variants(data)
	if err != nil {
		return nil, err
	}
	var all []*Scenario
	for _, text := range texts {
		s, err := parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func parse(data []byte) (*Scenario, error) {
	var s Scenario
	d := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict(), yaml.UseOrderedMap())
	if err := d.Decode(&s); err != nil {
		return nil, err
	}
	if s.Protocol == "" {
		s.Protocol = "responses"
	}
	if s.Request != nil {
		s.Steps = append([]Step{{Request: s.Request}}, s.Steps...)
	}
	if s.Customers == nil {
		s.Customers = map[string]Customer{mainCustomer: {Credit: "10.00"}}
	}
	s.name()
	return &s, errors.Join(s.check()...)
}

const mainCustomer = "main"

// Customer is who pays: a credit, or a mapping with the key's own limits too.
type Customer struct {
	Credit string `yaml:"credit"`
	Key    object `yaml:"key"` // as the admin API takes it
}

// UnmarshalYAML reads "10.00" or {credit: "10.00", key: {…}}.
func (c *Customer) UnmarshalYAML(data []byte) error {
	if text := strings.Trim(strings.TrimSpace(string(data)), `"'`); !strings.ContainsAny(text, ":\n") {
		c.Credit = text
		return nil
	}
	type plain Customer
	return yaml.NewDecoder(bytes.NewReader(data), yaml.Strict(), yaml.UseOrderedMap()).Decode((*plain)(c))
}

// name numbers the requests that have no name.
func (s *Scenario) name() {
	for i, r := range s.Requests() {
		if r.Name == "" {
			r.Name = fmt.Sprint(i + 1)
		}
		if r.Surface == "" && r.Call == "" {
			r.Surface = map[string]string{"chat": "chat", "messages": "messages"}[s.Protocol]
			if r.Surface == "" {
				r.Surface = surfaceResponses
			}
		}
		if r.Customer == "" {
			r.Customer = mainCustomer
		}
	}
}

// Requests gives the scenario's requests in the order of the file.
func (s *Scenario) Requests() (all []*Request) {
	for i := range s.Steps {
		st := &s.Steps[i]
		switch {
		case st.Request != nil:
			all = append(all, st.Request)
		case st.Start != nil:
			all = append(all, st.Start)
		}
		for k := range st.Together {
			all = append(all, &st.Together[k])
		}
	}
	return all
}

// Channels gives the channels' names: those of upstream, in order.
func (s *Scenario) Channels() (names []string) {
	seen := map[string]bool{}
	for key := range s.Upstream {
		name, _, _ := strings.Cut(key, " ")
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// Streams tells whether every request is a streamed one of the Responses
// surface, so that the scenario has a WebSocket twin.
func (s *Scenario) Streams() bool {
	all := s.Requests()
	for _, r := range all {
		if r.Surface != surfaceResponses || r.Raw != nil || !r.streams() {
			return false
		}
	}
	return len(all) > 0 && s.Twin == ""
}

func (r *Request) streams() bool {
	v, given := r.Body.get("stream")
	return !given || v == true
}
