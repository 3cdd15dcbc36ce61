package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Formats of Setup.
const (
	ForRubicon = "rubicon"
	ForLiteLLM = "litellm"
	ForAny     = "generic"
)

// Formats lists what Setup can write.
func Formats() []string { return []string{ForRubicon, ForLiteLLM, ForAny} }

// Timers of the profile with which the suites are to be run; Fast takes a tenth.
const (
	firstOutput = 9 * time.Second
	idle        = 40 * time.Second
)

// Setup tells how a target is to be configured: as a whole configuration for
// the gateways it knows, in words for any other. It is the same for both suites.
func Setup(format string, o Options) (string, error) {
	if o.Target == "" {
		o.Target = "http://127.0.0.1:8080"
	}
	o, err := o.withDefaults()
	if err != nil {
		return "", err
	}
	switch format {
	case ForRubicon:
		return o.rubicon(), nil
	case ForLiteLLM:
		return o.litellm(), nil
	case ForAny:
		return o.generic(), nil
	}
	return "", fmt.Errorf("there is no setup for %q; there are %s", format, strings.Join(Formats(), ", "))
}

// target is a model that the target must have.
type target struct {
	name string
	own  bool // its channels are its own
}

// targets are the models of both suites on this surface.
func (o Options) targets() []target {
	var out []target
	for _, s := range append(faultCases(), contractCases()...) {
		t := target{o.modelOf(s.name), s.ownChannels}
		if s.applies(o.Surface) && !slices.ContainsFunc(out, func(x target) bool { return x.name == t.name }) {
			out = append(out, t)
		}
	}
	return out
}

// protocol is what the providers are spoken to in.
func (o Options) protocol() string {
	if o.Surface == Socket {
		return string(Responses)
	}
	return string(o.Surface)
}

func (o Options) upstream(i int) string { return "http://" + o.Listen[i] + "/v1" }

func (o Options) rubicon() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# rubicon.yaml for `+"`rubicon audit`"+`. Then:
#   export RUBICON_ADMIN_TOKEN=…  &&  rubicon serve -c rubicon.yaml
#   rubicon customer create audit  &&  rubicon credit give CUSTOMER 10.00 --reason audit
#   rubicon key create CUSTOMER    &&  rubicon audit --target http://127.0.0.1:8080 --key KEY --surface %s%s
listen: 127.0.0.1:8080
admin: {listen: "127.0.0.1:8081", token: "${RUBICON_ADMIN_TOKEN}"}
store: {url: "sqlite:rubicon-audit.db"}
timers: {first_output: %s, idle: %s}
channels:
`, o.Surface, o.fastFlag(), o.scale(firstOutput), o.scale(idle))
	channel := func(name string, i int, key string) {
		fmt.Fprintf(&b, "  - {name: %s, protocol: %s, base_url: %q, allow_private: true, credentials: [{name: audit, key: %q}]}\n",
			name, o.protocol(), o.upstream(i), key)
	}
	channel("primary", primary, primaryKey)
	channel("fallback", fallback, fallbackKey)
	for _, t := range o.targets() {
		if t.own {
			channel("primary-"+t.name, primary, primaryKey)
		}
	}
	b.WriteString("models:\n")
	for _, t := range o.targets() {
		first := "primary"
		if t.own {
			first = "primary-" + t.name
		}
		fmt.Fprintf(&b, "  - {name: %q, price: {input: \"1.00\", output: \"2.00\"}, channels: [{channel: %s, priority: 0}, {channel: fallback, priority: 1}]}\n", t.name, first)
	}
	return b.String()
}

func (o Options) litellm() string {
	provider, base := "openai", [2]string{o.upstream(primary), o.upstream(fallback)}
	if o.Surface == Messages {
		provider = "anthropic"
		for i := range base {
			base[i] = strings.TrimSuffix(base[i], "/v1")
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# config.yaml for LiteLLM's proxy: litellm --config config.yaml --port 4000
# Then: rubicon audit --target http://127.0.0.1:4000 --key sk-audit-client --surface %s%s
general_settings: {master_key: sk-audit-client}
router_settings: {num_retries: 1, timeout: %g, stream_timeout: %g}
model_list:
`, o.Surface, o.fastFlag(), o.scale(idle).Seconds(), o.scale(firstOutput).Seconds())
	keys := [2]string{primaryKey, fallbackKey}
	for _, t := range o.targets() {
		for i, suffix := range [...]string{"", "-fallback"} {
			fmt.Fprintf(&b, "  - {model_name: %q, litellm_params: {model: %q, api_base: %q, api_key: %q}}\n",
				t.name+suffix, provider+"/"+t.name, base[i], keys[i])
		}
	}
	b.WriteString("litellm_settings:\n  fallbacks:\n")
	for _, t := range o.targets() {
		fmt.Fprintf(&b, "    - {%q: [%q]}\n", t.name, t.name+"-fallback")
	}
	return b.String()
}

func (o Options) generic() string {
	names := make([]string, 0, 64)
	for _, t := range o.targets() {
		names = append(names, t.name)
	}
	return fmt.Sprintf(`How to point a gateway at the audit's two providers

Upstreams, both speaking %s:
  primary   base URL %s   key %s
  fallback  base URL %s   key %s

The primary is to be used first, the fallback when the primary cannot answer.
The audit itself is the providers: they listen as long as it runs.

Timers:  first output %s (or time to first token), idle between events %s.

Models, each served by both upstreams under any upstream name:
  %s

A model for each case keeps the failures of one out of the next. A gateway with
one model only: rubicon audit --model NAME --pause 65s, where the pause is as
long as it remembers failures.

Then: rubicon audit --target URL --key KEY --surface %s%s
`, o.protocol(), o.upstream(primary), primaryKey, o.upstream(fallback), fallbackKey, o.scale(firstOutput), o.scale(idle),
		strings.Join(names, "\n  "), o.Surface, o.fastFlag())
}

func (o Options) fastFlag() string {
	if o.Fast {
		return " --fast"
	}
	return ""
}
