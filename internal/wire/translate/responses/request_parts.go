package responses

import (
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// part reads one part of a content.
func (d *requestDecoder) part(v []byte, at string) translate.Block {
	b := translate.Block{Path: at}
	if v[0] == '"' { // a bare string, as some clients write a text part
		b.Text = d.text(v, at)
		return b
	}
	var take func(key, path string, v []byte) bool
	switch typ := textOf(v, "type"); typ {
	case "input_text", "output_text", "text":
		take = d.textPart(&b)
	case "refusal":
		b.Kind = translate.Refusal
		take = d.textPart(&b)
	case "input_image":
		b.Kind = translate.Image
		take = d.imagePart(&b)
	case "input_file":
		b.Kind = translate.File
		take = d.filePart(&b)
	case "input_audio":
		b.Kind = translate.Audio
		take = d.audioPart(&b)
	default:
		b.Kind, b.Type, b.Raw, b.Origin = translate.Unknown, typ, raw(v), translate.Responses
		return b
	}
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "type":
		case "prompt_cache_breakpoint", "cache_control":
			b.Cache = &translate.CachePoint{Path: path, TTL: textOf(v, "ttl")}
			d.points = append(d.points, b.Cache)
		default:
			return take(key, path, v)
		}
		return true
	})
	if b.Kind == translate.File && b.Source.Data != "" && b.Source.Mime == "" {
		b.Source.Mime = mimeOf(b.Name)
	}
	return b
}

func (d *requestDecoder) textPart(b *translate.Block) func(key, path string, v []byte) bool {
	return func(key, path string, v []byte) bool {
		switch key {
		case "text", "refusal":
			b.Text = d.text(v, path)
		case "annotations":
			if !jsonscan.Empty(v) {
				b.Citations = raw(v)
			}
		case "logprobs": // of an earlier answer; they ask for nothing
		default:
			return false
		}
		return true
	}
}

func (d *requestDecoder) imagePart(b *translate.Block) func(key, path string, v []byte) bool {
	return func(key, path string, v []byte) bool {
		switch key {
		case "image_url":
			if v[0] == '{' { // as Chat Completions writes it
				v = jsonscan.Get(v, "url")
			}
			b.Source = sourceOf(d.text(v, path))
		case "file_id":
			b.Source.Ref = d.text(v, path)
		case "detail":
			b.Detail = d.text(v, path)
		default:
			return false
		}
		return true
	}
}

func (d *requestDecoder) filePart(b *translate.Block) func(key, path string, v []byte) bool {
	return func(key, path string, v []byte) bool {
		switch key {
		case "filename":
			b.Name = d.text(v, path)
		case "file_data":
			b.Source = sourceOf(d.text(v, path))
			if url := b.Source.URL; url != "" { // the bare bytes
				b.Source = translate.Source{Data: url}
			}
		case "file_url":
			b.Source = sourceOf(d.text(v, path))
		case "file_id":
			b.Source.Ref = d.text(v, path)
		case "detail":
			return jsonscan.Equal(v, "auto")
		default:
			return false
		}
		return true
	}
}

func (d *requestDecoder) audioPart(b *translate.Block) func(key, path string, v []byte) bool {
	return func(key, path string, v []byte) bool {
		if key != "input_audio" {
			return false
		}
		b.Source = translate.Source{Data: textOf(v, "data"), Mime: "audio/" + textOf(v, "format")}
		return true
	}
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

// mimeOf is the type of a file whose bytes do not tell it: PDF unless its name
// says otherwise.
func mimeOf(name string) string {
	for _, text := range [...]struct{ suffix, mime string }{
		{".txt", "text/plain"}, {".md", "text/markdown"}, {".csv", "text/csv"}, {".html", "text/html"}, {".json", "application/json"}, {".xml", "text/xml"},
	} {
		if strings.HasSuffix(strings.ToLower(name), text.suffix) {
			return text.mime
		}
	}
	return "application/pdf"
}
