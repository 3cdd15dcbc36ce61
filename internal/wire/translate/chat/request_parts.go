package chat

import (
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// content reads a message's content: text, or parts.
func (d *requestDecoder) content(v []byte, at string) (blocks []translate.Block) {
	if v[0] == '"' {
		return []translate.Block{{Kind: translate.Text, Path: at, Text: d.text(v, at)}}
	}
	d.elements(v, at, func(path string, v []byte) { blocks = append(blocks, d.part(v, path)) })
	return blocks
}

// part reads one part of a content.
func (d *requestDecoder) part(v []byte, at string) translate.Block {
	if v[0] == '"' { // a bare string, as some clients write a text part
		return translate.Block{Kind: translate.Text, Path: at, Text: d.text(v, at)}
	}
	b := translate.Block{Path: at}
	typ, _ := jsonscan.Text(jsonscan.Get(v, "type"))
	inner := jsonscan.Get(v, typ)
	known := inner != nil && !null(inner)
	switch {
	case typ == "text" && known:
		b.Text = d.text(inner, at+".text")
	case typ == "refusal" && known:
		b.Kind, b.Text = translate.Refusal, d.text(inner, at+".refusal")
	case typ == "image_url" && known:
		d.image(&b, inner, at+".image_url")
	case typ == "file" && known:
		d.file(&b, inner, at+".file")
	case typ == "input_audio" && known:
		d.audio(&b, inner, at+".input_audio")
	default:
		b.Kind, b.Type, b.Raw, b.Origin = translate.Unknown, typ, raw(v), translate.Chat
		return b
	}
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "cache_control", "prompt_cache_breakpoint":
			b.Cache = d.cachePoint(v, path)
		case "type", typ:
		default:
			return false
		}
		return true
	})
	return b
}

func (d *requestDecoder) image(b *translate.Block, v []byte, at string) {
	b.Kind = translate.Image
	if v[0] == '"' {
		b.Source = sourceOf(d.text(v, at))
		return
	}
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "url":
			b.Source = sourceOf(d.text(v, path))
		case "detail":
			b.Detail = d.text(v, path)
		default:
			return false
		}
		return true
	})
}

func (d *requestDecoder) file(b *translate.Block, v []byte, at string) {
	b.Kind = translate.File
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "filename":
			b.Name = d.text(v, path)
		case "file_data":
			if b.Source = sourceOf(d.text(v, path)); b.Source.URL != "" && !strings.Contains(b.Source.URL, ":") {
				b.Source = translate.Source{Data: b.Source.URL}
			}
		case "file_url":
			b.Source = sourceOf(d.text(v, path))
		case "file_id":
			b.Source.Ref = d.text(v, path)
		default:
			return false
		}
		return true
	})
	if b.Source.Data != "" && b.Source.Mime == "" {
		b.Source.Mime = "application/pdf"
	}
}

func (d *requestDecoder) audio(b *translate.Block, v []byte, at string) {
	b.Kind = translate.Audio
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "data":
			b.Source.Data = d.text(v, path)
		case "format":
			b.Source.Mime = "audio/" + d.text(v, path)
		default:
			return false
		}
		return true
	})
}

// sourceOf is what a URL stands for: its own bytes, or a place.
func sourceOf(url string) translate.Source {
	if data, ok := strings.CutPrefix(url, "data:"); ok {
		if mime, base64, ok := strings.Cut(data, ";base64,"); ok {
			return translate.Source{Mime: mime, Data: base64}
		}
	}
	return translate.Source{URL: url}
}
