package responses

import (
	"strconv"
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// instructed reads the instructions: a text, or items of which the texts count.
func (d *requestDecoder) instructed(v []byte) {
	const at = "instructions"
	if v[0] == '"' {
		if text := d.text(v, at); text != "" {
			d.instructions = []translate.Block{{Kind: translate.Text, Path: at, Text: text}}
		}
		return
	}
	d.elements(v, at, func(path string, v []byte) {
		d.members(v, path, func(key, path string, v []byte) bool {
			if key == "content" {
				d.instructions = append(d.instructions, d.content(v, path)...)
			}
			return key == "content" || key == "type" || key == "role" || key == "id"
		})
	})
}

func (d *requestDecoder) input(v []byte) {
	const at = "input"
	if v[0] == '"' {
		d.say(translate.Turn{Role: translate.User, Path: at}, translate.Block{Kind: translate.Text, Path: at, Text: d.text(v, at)})
		return
	}
	d.elements(v, at, d.item)
}

// say adds a turn. System text in front of all others is the request's.
func (d *requestDecoder) say(t translate.Turn, blocks ...translate.Block) {
	switch t.Blocks = blocks; {
	case len(blocks) == 0:
	case t.Role == translate.System && len(d.r.Turns) == 0:
		d.r.System = append(d.r.System, blocks...)
	default:
		d.r.Turns = append(d.r.Turns, t)
	}
}

// item reads one item of the input.
func (d *requestDecoder) item(at string, v []byte) {
	if jsonscan.KindOf(v) != jsonscan.KindObject {
		d.fail(at, "an object is expected")
		return
	}
	typ := textOf(v, "type")
	if typ == "" && jsonscan.Get(v, "role") != nil {
		typ = "message"
	}
	switch typ {
	case "message":
		d.message(v, at)
	case "reasoning":
		d.thought(v, at)
	case "function_call", "custom_tool_call":
		d.call(v, at, typ == "custom_tool_call")
	case "function_call_output", "custom_tool_call_output":
		d.result(v, at, typ == "custom_tool_call_output")
	case "additional_tools":
		d.members(v, at, func(key, path string, v []byte) bool {
			if key == "tools" {
				d.tools(v, path)
			}
			return key == "tools" || key == "type" || key == "role" || key == "id"
		})
	case "configuration_update": // the last word counts
		d.members(v, at, func(key, path string, v []byte) bool {
			switch key {
			case "reasoning":
				d.reasoning(v, path)
			case "text":
				d.prose(v, path)
			}
			return key == "reasoning" || key == "text" || key == "type" || key == "id"
		})
	case "item_reference", "compaction", "compaction_summary", "compaction_trigger":
		d.setting(translate.FeatureState, at, v)
	case "":
		if jsonscan.Get(v, "id") != nil { // an id alone names an item
			d.setting(translate.FeatureState, at, v)
			return
		}
		d.foreign(v, at, typ)
	default:
		d.foreign(v, at, typ)
	}
}

// foreign keeps an item of a tool that its vendor runs or trained its models
// for, or one of an unknown type.
func (d *requestDecoder) foreign(v []byte, at, typ string) {
	b := translate.Block{Kind: translate.Unknown, Path: at, Type: typ, Raw: raw(v), Origin: translate.Responses}
	t := translate.Turn{Role: translate.User, Path: at}
	switch {
	case strings.HasSuffix(typ, "_output"), typ == "mcp_approval_response":
		b.Kind = translate.Hosted
	case strings.HasSuffix(typ, "_call"), strings.HasPrefix(typ, "mcp_"), typ == "program":
		b.Kind, t.Role = translate.Hosted, translate.Assistant
	}
	d.say(t, b)
}

func (d *requestDecoder) message(v []byte, at string) {
	t := translate.Turn{Path: at}
	switch role := textOf(v, "role"); role {
	case "user", "assistant", "system":
		t.Role = translate.Role(role)
	case "developer":
		t.Role = translate.System
	default:
		d.fail(at+".role", "the role "+strconv.Quote(role)+" is not known")
	}
	var blocks []translate.Block
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "type", "role", "id", "status":
		case "content":
			blocks = d.content(v, path)
		case "phase":
			t.Phase = d.text(v, path)
		default:
			return false
		}
		return true
	})
	if t.Role != translate.Assistant {
		t.Phase = ""
	}
	for i := range blocks {
		blocks[i].Phase = t.Phase // turns may be joined
	}
	d.say(t, blocks...)
}

// thought reads a reasoning item. One that says nothing is none: as a turn it
// would be empty.
func (d *requestDecoder) thought(v []byte, at string) {
	b := translate.Block{Kind: translate.Think, Path: at}
	texts := func(path string, v []byte) (all []string) {
		d.elements(v, path, func(path string, v []byte) { all = append(all, d.text(jsonscan.Get(v, "text"), path+".text")) })
		return all
	}
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "type", "id", "status":
		case "summary":
			b.Summary = texts(path, v)
		case "content":
			b.Text = strings.Join(texts(path, v), "\n\n")
		case "encrypted_content":
			if seal := d.text(v, path); seal != "" {
				b.Seal = &translate.Seal{Kind: translate.Encrypted, Data: seal}
			}
		default:
			return false
		}
		return true
	})
	if b.Seal != nil || b.Reasoned() != "" {
		d.say(translate.Turn{Role: translate.Assistant, Path: at}, b)
	}
}

func (d *requestDecoder) call(v []byte, at string, custom bool) {
	if caller := jsonscan.Get(v, "caller"); caller != nil && !null(caller) && !jsonscan.Equal(jsonscan.Get(caller, "type"), "direct") {
		d.foreign(v, at, textOf(v, "type")) // of a program at the provider
		return
	}
	b := translate.Block{Kind: translate.Call, Path: at, Custom: custom}
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "type", "id", "status", "caller":
		case "call_id":
			b.ID = d.text(v, path)
		case "name":
			b.Name = d.text(v, path)
		case "namespace":
			b.Namespace = d.text(v, path)
		case "arguments", "input":
			b.Input = argumentText(v)
		case "async":
			d.unlessFalse(translate.FeatureToolAsync, v, path)
		default:
			return false
		}
		return true
	})
	switch {
	case b.ID == "":
		d.fail(at+".call_id", "a string is expected")
	case b.Name == "":
		d.fail(at+".name", "a string is expected")
	}
	d.say(translate.Turn{Role: translate.Assistant, Path: at}, b)
}

// argumentText is a call's arguments as their text, also where a server or a
// client wrote them as an object.
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

func (d *requestDecoder) result(v []byte, at string, custom bool) {
	b := translate.Block{Kind: translate.Result, Path: at, Custom: custom}
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "type", "id", "status", "caller", "name", "namespace":
		case "call_id":
			b.ID = d.text(v, path)
		case "output":
			b.Inner = d.content(v, path)
		default:
			return false
		}
		return true
	})
	if b.ID == "" {
		d.fail(at+".call_id", "a string is expected")
	}
	d.say(translate.Turn{Role: translate.User, Path: at}, b)
}

// content reads a message's content or a result's output: text, or parts. The
// empty text is none.
func (d *requestDecoder) content(v []byte, at string) (blocks []translate.Block) {
	if v[0] == '"' {
		if text := d.text(v, at); text != "" {
			blocks = []translate.Block{{Kind: translate.Text, Path: at, Text: text}}
		}
		return blocks
	}
	d.elements(v, at, func(path string, v []byte) { blocks = append(blocks, d.part(v, path)) })
	return blocks
}
