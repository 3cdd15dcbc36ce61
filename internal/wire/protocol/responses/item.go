package responses

import (
	"strconv"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// hostedCalls names the calls of tools that run at the provider, by the type of
// their item, as price lists name them. Calls that the client carries out
// (function, custom, local_shell, apply_patch, computer) are not here.
var hostedCalls = map[string]string{
	webSearchCall:           "web_search",
	"file_search_call":      "file_search",
	"code_interpreter_call": "code_interpreter",
	"image_generation_call": "image_generation",
	"mcp_call":              "mcp",
	"x_search_call":         "x_search",
	"shell_call":            toolShell, // only with an environment that is not local
}

const (
	webSearchCall = "web_search_call"
	toolShell     = "shell"
)

// item is what is read of one output item.
type item struct {
	id, typ, status string
	containers      []string
	sealed          []string // hashes of its sealed fields
	action          string   // of a web search call: what it did, "" not said
	remote          bool     // has an environment that is not the client's own
	image           bool     // has the data of an image
	text            int64    // UTF-8 bytes of everything in it that the model wrote
}

func readItem(raw []byte) (it item) {
	var action int64
	m := jsonscan.Object(raw)
	for m.Next() {
		v := m.Value()
		switch string(m.Key()) {
		case "id":
			it.id = str(v)
		case "type":
			it.typ = str(v)
		case "status":
			it.status = str(v)
		case "container_id":
			it.container(v)
		case "environment":
			it.container(jsonscan.Get(v, "container_id"))
			it.remote = remote(v)
		case "encrypted_content":
			it.seal(v)
		case "content", "summary":
			it.parts(v)
		case "arguments", "input", "code":
			it.text += written(v)
		case "action", "operation":
			action += written(v)
			it.action = str(jsonscan.Get(v, "type"))
		case "result":
			it.image = jsonscan.KindOf(v) == jsonscan.KindString && !jsonscan.Empty(v)
		}
	}
	if it.typ != webSearchCall { // a search's action only reports what was done
		it.text += action
	}
	return it
}

func (it *item) container(raw []byte) {
	if id := str(raw); id != "" {
		it.containers = append(it.containers, id)
	}
}

func (it *item) seal(raw []byte) {
	if s := str(raw); s != "" {
		it.sealed = append(it.sealed, protocol.Seal(s))
	}
}

// parts reads the content of a message and the parts of reasoning.
func (it *item) parts(raw []byte) {
	el := jsonscan.Array(raw)
	for el.Next() {
		it.part(el.Value())
	}
}

func (it *item) part(raw []byte) {
	m := jsonscan.Object(raw)
	for m.Next() {
		switch string(m.Key()) {
		case "text", "refusal", "transcript":
			it.text += int64(jsonscan.TextLen(m.Value()))
		case "encrypted_content":
			it.seal(m.Value())
		}
	}
}

// written is the size of a tool call's arguments, which are a string or a value.
func written(raw []byte) int64 {
	switch jsonscan.KindOf(raw) {
	case jsonscan.KindString:
		return int64(jsonscan.TextLen(raw))
	case jsonscan.KindObject, jsonscan.KindArray:
		return int64(len(raw))
	}
	return 0
}

// remote reports whether a shell's environment is one that the provider keeps.
func remote(environment []byte) bool {
	return jsonscan.KindOf(environment) == jsonscan.KindObject && !jsonscan.Equal(jsonscan.Get(environment, "type"), "local")
}

// hosted is the name of the finished hosted call that the item is, "" if none.
func (it *item) hosted() string {
	name := hostedCalls[it.typ]
	if name == toolShell && !it.remote || it.status != "" && it.status != "completed" {
		return ""
	}
	return name
}

// billed reports whether the hosted call has a price. Of web searches the searches
// have; to open a page, or to look for words in it, is part of one.
func (it *item) billed() bool {
	return it.typ != webSearchCall || it.action == "" || it.action == "search"
}

// whole reports whether the item came to its end and is one that a customer pays
// for, also where nothing in it is text: a call, a sealed item.
func (it *item) whole() bool { return it.status == "" || it.status == "completed" }

// key tells items apart: by id, else by their place in the output.
func (it *item) key(index int64) string {
	if it.id != "" {
		return it.id
	}
	return "#" + strconv.FormatInt(index, 10)
}

// remember notes what of the item lives at the upstream account.
func (it *item) remember(seen *protocol.Observed) {
	if it.id != "" {
		seen.Remember(protocol.KindItem, it.id)
	}
	for _, c := range it.containers {
		seen.Remember(protocol.KindContainer, c)
	}
	for _, s := range it.sealed {
		seen.Remember(protocol.KindSealed, s)
	}
}
