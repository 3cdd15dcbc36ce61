package chat

import (
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// call is one call of an answer. Providers number the pieces of calls in ways of
// their own: by index, by id, by neither, or all with the same index.
type call struct {
	index    int64  // -1 not said
	id       string // upstream's; "" not said yet
	name     string
	custom   bool
	block    int
	open     bool
	shut     bool
	held     string // arguments that came before the name
	progress progress
	extra    []byte // a signature that came before the call was open
}

// piece is one element of tool_calls.
type piece struct {
	index    int64
	id, name string
	text     string // of the arguments
	custom   bool
	extra    []byte
}

func (p *piece) split(raw []byte) {
	p.index = -1
	m := jsonscan.Object(raw)
	for m.Next() {
		v := m.Value()
		if null(v) {
			continue
		}
		switch string(m.Key()) {
		case "index":
			if n, ok := jsonscan.Int(v); ok {
				p.index = n
			}
		case "id":
			p.id, _ = jsonscan.Text(v)
		case "type":
			p.custom = p.custom || jsonscan.Equal(v, "custom")
		case "function":
			p.called(v)
		case "custom":
			p.custom = true
			p.called(v)
		case "extra_content":
			p.extra = v
		}
	}
}

func (p *piece) called(v []byte) {
	m := jsonscan.Object(v)
	for m.Next() {
		switch string(m.Key()) {
		case "name":
			p.name, _ = jsonscan.Text(m.Value())
		case "arguments", "input":
			p.text = argumentText(m.Value())
		}
	}
}

func (d *answerDecoder) callPiece(raw []byte) {
	var p piece
	p.split(raw)
	if p.id == "" && p.name == "" && p.text == "" {
		return
	}
	d.continueCall(&p)
}

// legacyCall reads the older function_call: there is one, without an id.
func (d *answerDecoder) legacyCall(raw []byte) {
	p := piece{index: -2}
	p.called(raw)
	d.continueCall(&p)
}

func (d *answerDecoder) continueCall(p *piece) {
	if d.over {
		return
	}
	c := d.callOf(p)
	if c.name == "" {
		c.name = p.name
	}
	c.custom = c.custom || p.custom
	if signed(p.extra) && !c.open {
		c.extra = append([]byte(nil), p.extra...)
	}
	switch {
	case c.shut && strings.TrimSpace(p.text) != "":
		d.shutAll()
		d.fail(translate.Failure{Code: "upstream_malformed", Type: "server_error", Message: "The provider sent arguments for a call that was complete."})
		return
	case c.shut:
		return
	}
	if !c.open {
		c.held += p.text
		if c.name == "" || c.id == "" && c.held == "" {
			return
		}
		d.openCall(c)
		return
	}
	d.arguments(c, p.text)
}

func (d *answerDecoder) arguments(c *call, text string) {
	if text == "" {
		return
	}
	c.progress.feed(text)
	d.emit(translate.Event{Kind: translate.Delta, Index: c.block, Part: translate.PartInput, Text: text})
}

// callOf finds the call that a piece continues, or begins one.
func (d *answerDecoder) callOf(p *piece) *call {
	if c := d.known(p); c != nil {
		return c
	}
	d.calls = append(d.calls, call{index: p.index, id: p.id})
	return &d.calls[len(d.calls)-1]
}

func (d *answerDecoder) known(p *piece) *call {
	if p.id != "" {
		if c := d.last(func(c *call) bool { return c.id == p.id }); c != nil && (p.name == "" || p.index < 0 || p.index == c.index) {
			return c
		}
		c := d.last(func(c *call) bool { return p.index >= 0 && c.index == p.index })
		if c == nil || c.id != "" || p.name != "" && c.progress.complete() {
			return nil
		}
		c.id = p.id // it comes late
		return c
	}
	if p.index != -1 {
		c := d.last(func(c *call) bool { return c.index == p.index })
		if c != nil && p.name != "" && c.progress.complete() {
			return nil // another call under the same index
		}
		return c
	}
	c := d.last(func(*call) bool { return true })
	if c != nil && p.name != "" && c.name != "" {
		return nil
	}
	return c
}

func (d *answerDecoder) last(is func(*call) bool) *call {
	for i := len(d.calls) - 1; i >= 0; i-- {
		if is(&d.calls[i]) {
			return &d.calls[i]
		}
	}
	return nil
}

// openCall opens a call, behind the signature that it carries.
func (d *answerDecoder) openCall(c *call) {
	id := d.callID(c)
	if c.extra != nil {
		d.signature(c.extra, id)
	}
	d.shut()
	c.open, c.block = true, d.next
	d.opened(translate.Block{Kind: translate.Call, ID: id, Name: c.name, Custom: c.custom})
	held := c.held
	c.held = ""
	d.arguments(c, held)
}

// callID is upstream's id, unless it has none or has it twice.
func (d *answerDecoder) callID(c *call) string {
	number, twice := 0, false
	for i := range d.calls {
		if &d.calls[i] == c {
			number = i
			break
		}
		twice = twice || d.calls[i].id == c.id
	}
	if c.id == "" || twice {
		return translate.MadeCallID(d.id, number)
	}
	return c.id
}

// openHeld opens the calls that waited for an id that never came.
func (d *answerDecoder) openHeld() {
	for i := range d.calls {
		c := &d.calls[i]
		switch {
		case c.open:
		case c.name == "":
			d.shutAll()
			d.fail(translate.Failure{Code: "upstream_malformed", Type: "server_error", Message: "The provider sent a call without a name."})
			return
		default:
			d.openCall(c)
		}
	}
}

// shutCalls closes the calls whose arguments are complete, or all.
func (d *answerDecoder) shutCalls(all bool) {
	for i := range d.calls {
		c := &d.calls[i]
		if c.open && !c.shut && (all || c.progress.complete() && !c.custom) {
			c.shut = true
			d.emit(translate.Event{Kind: translate.Close, Index: c.block})
		}
	}
}

// progress tells when a JSON object that comes in pieces is complete.
type progress struct {
	depth             int
	inString, escaped bool
	done              bool
}

func (p *progress) complete() bool { return p.done }

func (p *progress) feed(text string) {
	for i := 0; i < len(text) && !p.done; i++ {
		c := text[i]
		switch {
		case p.escaped:
			p.escaped = false
		case p.inString:
			p.escaped = c == '\\'
			p.inString = c != '"'
		case c == '"':
			p.inString = true
		case c == '{' || c == '[':
			p.depth++
		case c == '}' || c == ']':
			p.depth--
			p.done = p.depth <= 0
		}
	}
}
