package messages

import (
	"strconv"
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// toolReference is the type of a result that names a tool which was found. As
// text it is the tool's name.
const toolReference = "tool_reference"

func (d *decoder) turns(v []byte) (turns []translate.Turn) {
	d.elements(v, "messages", func(path string, v []byte) { turns = append(turns, d.turn(v, path)) })
	return turns
}

func (d *decoder) turn(v []byte, at string) translate.Turn {
	t := translate.Turn{Path: at}
	role, _ := jsonscan.Text(jsonscan.Get(v, "role"))
	t.Role = translate.Role(role)
	if t.Role != translate.User && t.Role != translate.Assistant && t.Role != translate.System {
		d.fail(at+".role", "the role "+strconv.Quote(role)+" is not known")
	}
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "role":
		case "content":
			t.Blocks = d.content(v, path)
		default:
			return false
		}
		return true
	})
	return t
}

// content reads a list of blocks, or text that stands for one.
func (d *decoder) content(v []byte, at string) (blocks []translate.Block) {
	if jsonscan.KindOf(v) == jsonscan.KindString {
		return []translate.Block{{Kind: translate.Text, Path: at, Text: d.text(v, at)}}
	}
	d.elements(v, at, func(path string, v []byte) { blocks = d.block(blocks, v, path) })
	return blocks
}

// block appends what one block is.
func (d *decoder) block(blocks []translate.Block, v []byte, at string) []translate.Block {
	typ, _ := jsonscan.Text(jsonscan.Get(v, "type"))
	b := translate.Block{Path: at}
	switch {
	case typ == "text":
		d.textBlock(&b, v)
	case typ == "image":
		b.Kind = translate.Image
		d.attachment(&b, v)
	case typ == "document" && carriesSource(v):
		b.Kind = translate.File
		if context := d.attachment(&b, v); context != nil {
			blocks = append(blocks, *context)
		}
	case typ == "thinking", typ == "redacted_thinking":
		d.thought(&b, v)
	case typ == "tool_use" && direct(v):
		d.call(&b, v)
	case typ == "tool_result":
		d.result(&b, v)
	case typ == toolReference:
		b = translate.Block{Kind: translate.Text, Path: at, Text: d.text(jsonscan.Get(v, "tool_name"), at+".tool_name"), Type: typ}
	default:
		b.Kind, b.Type, b.Raw, b.Origin = translate.Unknown, typ, raw(v), translate.Messages
		if hostedBlock(typ) || typ == "tool_use" {
			b.Kind = translate.Hosted
		}
	}
	return append(blocks, b)
}

// carriesSource tells a document that other formats know from one that is made
// of blocks of its own.
func carriesSource(v []byte) bool {
	return !jsonscan.Equal(jsonscan.Get(v, "source", "type"), "content")
}

// direct tells a call that the model made itself from one of its programs.
func direct(v []byte) bool {
	caller := jsonscan.Get(v, "caller", "type")
	return caller == nil || null(caller) || jsonscan.Equal(caller, "direct")
}

func (d *decoder) textBlock(b *translate.Block, v []byte) {
	d.members(v, b.Path, func(key, path string, v []byte) bool {
		switch key {
		case "type":
		case "text":
			b.Text = d.text(v, path)
		case "citations":
			if !jsonscan.Empty(v) {
				b.Citations = raw(v)
			}
		case "cache_control":
			b.Cache = d.cachePoint(v, path)
		default:
			return false
		}
		return true
	})
}

// attachment reads an image or a document. What a document says of its context
// is text that the model sees: it is returned as a block of its own.
func (d *decoder) attachment(b *translate.Block, v []byte) (context *translate.Block) {
	d.members(v, b.Path, func(key, path string, v []byte) bool {
		switch key {
		case "type":
		case "source":
			d.source(&b.Source, v, path)
		case "title":
			b.Name = d.text(v, path)
		case "context":
			if text := d.text(v, path); text != "" {
				context = &translate.Block{Kind: translate.Text, Path: path, Text: text}
			}
		case "citations":
			if on, _ := jsonscan.Bool(jsonscan.Get(v, "enabled")); on {
				d.setting(translate.FeatureInclude, path, v)
			}
		case "cache_control":
			b.Cache = d.cachePoint(v, path)
		default:
			return false
		}
		return true
	})
	return context
}

func (d *decoder) source(s *translate.Source, v []byte, at string) {
	typ, _ := jsonscan.Text(jsonscan.Get(v, "type"))
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "type":
		case "media_type":
			s.Mime = d.text(v, path)
		case "data":
			if typ == "text" {
				s.Text = d.text(v, path)
			} else {
				s.Data = d.text(v, path)
			}
		case "url":
			s.URL = d.text(v, path)
		case "file_id":
			s.Ref = d.text(v, path)
		default:
			return false
		}
		return true
	})
	if s.Data == "" && s.Text == "" && s.URL == "" && s.Ref == "" {
		d.fail(at, "the source holds nothing")
	}
	if data, ok := strings.CutPrefix(s.URL, "data:"); ok {
		if mime, base64, ok := strings.Cut(data, ";base64,"); ok {
			*s = translate.Source{Mime: mime, Data: base64}
		}
	}
}

func (d *decoder) thought(b *translate.Block, v []byte) {
	b.Kind = translate.Think
	d.members(v, b.Path, func(key, path string, v []byte) bool {
		switch key {
		case "type":
		case "thinking":
			b.Text = d.text(v, path)
		case "signature":
			if s := d.text(v, path); s != "" {
				b.Seal = &translate.Seal{Kind: translate.Signature, Data: s}
			}
		case "data":
			b.Seal = &translate.Seal{Kind: translate.Redacted, Data: d.text(v, path)}
		default:
			return false
		}
		return true
	})
}

func (d *decoder) call(b *translate.Block, v []byte) {
	b.Kind = translate.Call
	d.members(v, b.Path, func(key, path string, v []byte) bool {
		switch key {
		case "type", "caller":
		case "id":
			b.ID = d.text(v, path)
		case "name":
			b.Name = d.text(v, path)
		case "input":
			b.Input = string(v)
		case "cache_control":
			b.Cache = d.cachePoint(v, path)
		default:
			return false
		}
		return true
	})
}

func (d *decoder) result(b *translate.Block, v []byte) {
	b.Kind = translate.Result
	d.members(v, b.Path, func(key, path string, v []byte) bool {
		switch key {
		case "type":
		case "tool_use_id":
			b.ID = d.text(v, path)
		case "is_error":
			b.Failed = d.bool(v, path)
		case "content":
			b.Inner = d.content(v, path)
		case "cache_control":
			b.Cache = d.cachePoint(v, path)
		default:
			return false
		}
		return true
	})
}
