package responses

import (
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// state is what of a response object changes from event to event.
type state struct {
	status  string
	reason  string // of an incomplete response
	failure *translate.Failure
	output  bool // the output and the usage are shown
}

// member is one member of the response object. One without a value changes from
// event to event.
type member struct {
	name  string
	value []byte
}

// echoLimit bounds what of the client's own request is repeated to it, by
// member: instructions and tools can be megabytes, and each opening event is held
// back.
const echoLimit = 16 << 10

// members are a complete response object's: clients decode it strictly. It
// repeats what the client asked for, not what upstream was asked.
func (e *answerEncoder) members() []member {
	null, text := []byte("null"), func(s string) []byte { return jsonscan.AppendString(nil, s) }
	asked := e.asked()
	return []member{
		{"id", text(e.id.ResponseID)},
		{"object", text("response")},
		{"created_at", []byte(itoa(e.id.Created))},
		{"completed_at", null},
		{"status", nil},
		{"background", []byte("false")},
		{"error", nil},
		{"incomplete_details", nil},
		{"instructions", asked.instructions},
		{"max_output_tokens", asked.limit},
		{"max_tool_calls", e.echo(translate.FeatureMaxCalls)},
		{"model", text(e.id.Model)},
		{"output", nil},
		{"parallel_tool_calls", asked.parallel},
		{"previous_response_id", e.state("previous_response_id")},
		{"presence_penalty", e.echo(translate.FeaturePresence)},
		{"frequency_penalty", e.echo(translate.FeatureFrequency)},
		{"prompt_cache_key", e.echo(translate.FeatureCacheKey)},
		{"prompt_cache_retention", e.echo(translate.FeatureRetention)},
		{"reasoning", asked.reasoning},
		{"safety_identifier", e.userAs("safety_identifier")},
		{"service_tier", nil},
		{"store", []byte("false")},
		{"temperature", e.echo(translate.FeatureTemperature)},
		{"text", asked.prose},
		{"tool_choice", asked.choice},
		{"tools", asked.tools},
		{"top_logprobs", e.echo(translate.FeatureLogprobs)},
		{"top_p", e.echo(translate.FeatureTopP)},
		{"truncation", []byte(`"disabled"`)},
		{"usage", nil},
		{"user", e.userAs("user")},
		{"metadata", e.metadata()},
	}
}

// response writes the response object.
func (e *answerEncoder) response(w *writer, st *state) {
	w.open('{')
	for i := range e.frame {
		m := &e.frame[i]
		if m.value != nil {
			w.raw(m.name, m.value)
			continue
		}
		switch w.key(m.name); m.name {
		case "status":
			w.b = jsonscan.AppendString(w.b, st.status)
		case "error":
			e.failure(w, st)
		case "incomplete_details":
			details(w, st)
		case "output":
			e.output(w, st)
		case "service_tier":
			e.servedBy(w)
		case "usage":
			if st.output && e.known {
				writeUsage(w, e.usage)
			} else {
				w.b = append(w.b, "null"...)
			}
		}
	}
	w.shut('}')
}

func (e *answerEncoder) failure(w *writer, st *state) {
	if st.failure == nil {
		w.b = append(w.b, "null"...)
		return
	}
	writeFailure(w, st.failure)
}

func details(w *writer, st *state) {
	if st.reason == "" {
		w.b = append(w.b, "null"...)
		return
	}
	w.open('{')
	w.text("reason", st.reason)
	w.shut('}')
}

// output writes all items as their last events have them.
func (e *answerEncoder) output(w *writer, st *state) {
	w.open('[')
	if st.output {
		for _, it := range e.items {
			w.element()
			w.b = append(w.b, it.last...)
		}
	}
	w.shut(']')
}

// servedBy writes the tier that upstream told, else the one that was asked for.
func (e *answerEncoder) servedBy(w *writer) {
	switch e.tier {
	case "":
		w.b = append(w.b, e.echo(translate.FeatureTier)...)
	case "standard":
		w.b = append(w.b, `"default"`...)
	default:
		w.b = jsonscan.AppendString(w.b, e.tier)
	}
}

// state is an id that the client named, null if it named none.
func (e *answerEncoder) state(path string) []byte {
	for i := range e.r.Settings {
		if s := &e.r.Settings[i]; s.Feature == translate.FeatureState && s.Path == path && len(s.Value) <= echoLimit {
			return s.Value
		}
	}
	return []byte("null")
}

func (e *answerEncoder) userAs(path string) []byte {
	if s := e.r.Get(translate.FeatureUser); s != nil && s.Path == path && len(s.Value) <= echoLimit {
		return s.Value
	}
	return []byte("null")
}

func (e *answerEncoder) metadata() []byte {
	if v := e.echo(translate.FeatureMetadata); jsonscan.KindOf(v) == jsonscan.KindObject {
		return v
	}
	return []byte("{}")
}

// asked is what the client asked for, written again in its own format.
type asked struct{ instructions, limit, parallel, reasoning, prose, choice, tools []byte }

func (e *answerEncoder) asked() (a asked) {
	enc := encoder{r: e.r, f: translate.Defaults(translate.Responses), rep: translate.NewReporter(translate.Responses, translate.Defaults(translate.Responses))}
	enc.offers = &translate.Offers{Choice: e.r.Choice, Names: translate.NamesOf(e.r, translate.Responses, enc.f)}
	for _, t := range e.r.Tools {
		enc.offers.List = append(enc.offers.List, translate.Offered{Tool: t, Wire: t.Name})
	}
	take := func(write func(), member, empty string) []byte {
		enc.w = writer{b: []byte("{")}
		write()
		v := jsonscan.Get(append(enc.w.b, '}'), member)
		if v == nil || len(v) > echoLimit {
			return []byte(empty)
		}
		return v
	}
	a.tools = take(enc.tools, "tools", "[]")
	a.choice = take(enc.choice, "tool_choice", `"auto"`)
	a.parallel = take(enc.choice, "parallel_tool_calls", "true")
	a.prose = e.prose(take(enc.format, "format", `{"type":"text"}`))
	a.reasoning = e.reasoning()
	a.limit, a.instructions = []byte("null"), []byte("null")
	if n := e.r.MaxOutput; n.Path != "" {
		a.limit = []byte(itoa(n.Value))
	}
	if text := e.instructions(); text != "" && len(text) <= echoLimit {
		a.instructions = jsonscan.AppendString(nil, text)
	}
	return a
}

func (e *answerEncoder) instructions() string {
	var texts []string
	for i := range e.r.System {
		if b := &e.r.System[i]; strings.HasPrefix(b.Path, "instructions") {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

func (e *answerEncoder) prose(format []byte) []byte {
	w := writer{}
	w.open('{')
	w.raw("format", format)
	if s := e.r.Get(translate.FeatureVerbosity); s != nil {
		w.raw("verbosity", e.echo(translate.FeatureVerbosity))
	}
	w.shut('}')
	return w.b
}

func (e *answerEncoder) reasoning() []byte {
	w := writer{}
	w.open('{')
	w.nullable("effort", e.r.Reasoning.Effort)
	w.nullable("summary", e.r.Reasoning.Summary)
	w.shut('}')
	return w.b
}
