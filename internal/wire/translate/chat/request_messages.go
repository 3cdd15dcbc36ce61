package chat

import (
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// message is one message of a request while it is read.
type message struct {
	role    string
	content []translate.Block
	thought [3][]translate.Block // by how much its source says
	refusal *translate.Block
	calls   []translate.Block
	callID  string
	name    []byte
	cache   *translate.CachePoint
	quotes  []byte
	legacy  string // the id made for a call of functions, which had none
}

// The sources of reasoning, the fullest first: the same reasoning may stand
// under several names.
const (
	fromDetails = iota
	fromContent
	fromReasoning
)

func (d *requestDecoder) messages(v []byte) {
	lastLegacy := ""
	d.elements(v, "messages", func(path string, v []byte) {
		m := d.message(v, path)
		if m.legacy != "" {
			lastLegacy = m.legacy
		}
		if m.role == "function" {
			m.callID = lastLegacy
		}
		d.turn(&m, path)
	})
}

// turn makes a turn of a message, or system text in front of all turns.
func (d *requestDecoder) turn(m *message, at string) {
	r := d.r
	blocks := m.blocks(at)
	if m.cache != nil && len(blocks) > 0 {
		blocks[len(blocks)-1].Cache = m.cache
	}
	if m.name != nil && m.role != "function" && m.role != "tool" {
		d.setting(translate.FeatureName, at+".name", m.name)
	}
	switch m.role {
	case "system", "developer":
		if len(r.Turns) == 0 {
			r.System = append(r.System, blocks...)
			return
		}
		r.Turns = append(r.Turns, translate.Turn{Role: translate.System, Blocks: blocks, Path: at})
	case "assistant":
		r.Turns = append(r.Turns, translate.Turn{Role: translate.Assistant, Blocks: blocks, Path: at})
	default:
		r.Turns = append(r.Turns, translate.Turn{Role: translate.User, Blocks: blocks, Path: at})
	}
}

// blocks gives a message's blocks in the order in which they were said.
func (m *message) blocks(at string) []translate.Block {
	switch m.role {
	case "tool", "function":
		return []translate.Block{{Kind: translate.Result, Path: at, ID: m.callID, Inner: m.content}}
	case "assistant":
		var all []translate.Block
		for _, thought := range m.thought {
			if len(thought) > 0 {
				all = append(all, thought...)
				break
			}
		}
		for _, b := range m.content {
			if b.Kind != translate.Text || b.Text != "" {
				all = append(all, b)
			}
		}
		if n := len(all) - 1; n >= 0 && all[n].Kind == translate.Text && m.quotes != nil && !jsonscan.Empty(m.quotes) {
			all[n].Citations = raw(m.quotes)
		}
		if m.refusal != nil {
			all = append(all, *m.refusal)
		}
		return append(all, m.calls...)
	}
	return m.content
}

func (d *requestDecoder) message(v []byte, at string) message {
	var m message
	m.role, _ = jsonscan.Text(jsonscan.Get(v, "role"))
	switch m.role {
	case "system", "developer", "user", "assistant", "tool", "function":
	default:
		m.content = []translate.Block{{Kind: translate.Unknown, Path: at, Type: m.role, Raw: raw(v), Origin: translate.Chat}}
		return m
	}
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "role":
		case "content":
			m.content = d.content(v, path)
		case "name":
			m.name = v
		case "tool_call_id":
			m.callID = d.text(v, path)
		case "cache_control":
			m.cache = d.cachePoint(v, path)
		default:
			return m.role == "assistant" && d.ofAssistant(&m, key, path, v)
		}
		return true
	})
	return m
}

// ofAssistant reads a member that only messages of the assistant have.
func (d *requestDecoder) ofAssistant(m *message, key, at string, v []byte) bool {
	switch key {
	case "refusal":
		if text := d.text(v, at); text != "" {
			m.refusal = &translate.Block{Kind: translate.Refusal, Path: at, Text: text}
		}
	case "tool_calls":
		d.elements(v, at, func(path string, v []byte) { m.calls = d.call(m.calls, v, path) })
	case "function_call":
		b := translate.Block{Kind: translate.Call, Path: at, ID: translate.MadeCallID(at, 0)}
		d.calledFunction(&b, v, at)
		m.calls, m.legacy = append(m.calls, b), b.ID
	case "reasoning_content":
		m.thought[fromContent] = thought(m.thought[fromContent], v, at)
	case "reasoning":
		m.thought[fromReasoning] = thought(m.thought[fromReasoning], v, at)
	case "reasoning_details", "thinking_blocks":
		d.r.Reasoning.KeepSeals = true
		d.elements(v, at, func(path string, v []byte) {
			m.thought[fromDetails] = append(m.thought[fromDetails], detail(v, path)...)
		})
	case "annotations":
		m.quotes = v
	case "audio":
		if id := jsonscan.Get(v, "id"); id != nil {
			d.setting(translate.FeatureState, at+".id", id)
		}
	case "extra_content":
		if signed(v) {
			m.calls = append(m.calls, signature(v, at, ""))
		}
	default:
		return false
	}
	return true
}

func thought(blocks []translate.Block, v []byte, at string) []translate.Block {
	text, _ := jsonscan.Text(v)
	if text == "" {
		return blocks
	}
	return append(blocks, translate.Block{Kind: translate.Think, Path: at, Text: text})
}

// call appends a call, and in front of it the signature that it carries.
func (d *requestDecoder) call(blocks []translate.Block, v []byte, at string) []translate.Block {
	b := translate.Block{Kind: translate.Call, Path: at}
	typ, _ := jsonscan.Text(jsonscan.Get(v, "type"))
	if typ != "" && typ != "function" && typ != "custom" {
		return append(blocks, translate.Block{Kind: translate.Hosted, Path: at, Type: typ, Raw: raw(v), Origin: translate.Chat})
	}
	var extra []byte
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "type", "index":
		case "id":
			b.ID = d.text(v, path)
		case "function":
			d.calledFunction(&b, v, path)
		case "custom":
			b.Custom = true
			b.Name, _ = jsonscan.Text(jsonscan.Get(v, "name"))
			b.Input, _ = jsonscan.Text(jsonscan.Get(v, "input"))
		case "extra_content":
			extra = v
			return signed(v)
		default:
			return false
		}
		return true
	})
	if signed(extra) {
		blocks = append(blocks, signature(extra, at+".extra_content", b.ID))
	}
	return append(blocks, b)
}

// calledFunction reads the name and the arguments of a call. Arguments that are
// no string, as some clients send them, keep their text.
func (d *requestDecoder) calledFunction(b *translate.Block, v []byte, at string) {
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "name":
			b.Name = d.text(v, path)
		case "arguments":
			b.Input = argumentText(v)
		default:
			return false
		}
		return true
	})
}

// argumentText is a call's arguments as their JSON text.
func argumentText(v []byte) string {
	switch {
	case len(v) == 0 || null(v):
		return ""
	case v[0] == '"':
		text, _ := jsonscan.Text(v)
		return text
	}
	return string(v)
}

// itemOf is the message, or the item of another format, that a path is in.
func itemOf(path string) string {
	if end := strings.IndexByte(path, ']'); end >= 0 {
		return path[:end]
	}
	return path
}
