package responses

import (
	"strings"

	"rubicon/internal/wire/translate"
)

// part writes one part of a message, or of a result.
func (e *encoder) part(b *translate.Block, role string) {
	switch b.Kind {
	case translate.Text:
		e.textPart(b, b.Text, role)
	case translate.Refusal:
		e.refusal(b, role)
	case translate.Image:
		e.image(b)
	case translate.File:
		e.file(b, role)
	case translate.Audio:
		e.audio(b)
	default:
		e.foreign(b)
	}
}

func (e *encoder) textPart(b *translate.Block, text, role string) {
	typ := "input_text"
	if role == "assistant" {
		typ = "output_text"
	}
	e.w.begin(typ)
	e.w.text("text", text)
	switch {
	case b.Citations == nil:
	case e.native():
		e.w.raw("annotations", b.Citations)
	default:
		e.rep.NoteBecause(translate.Dropped, translate.FeatureCitations, b.Path, "", "", "the upstream takes no citations of another format")
	}
	e.mark(b)
	e.w.shut('}')
}

// refusal writes an earlier refusal; one that the user quotes is text.
func (e *encoder) refusal(b *translate.Block, role string) {
	if role != "assistant" {
		e.textPart(b, b.Text, role)
		return
	}
	e.rep.Take(translate.FeatureRefusal, b.Path, "")
	e.w.begin("refusal")
	e.w.text("refusal", b.Text)
	e.w.shut('}')
}

// source writes where the bytes of an image or a file are. It is false where
// they cannot be sent, which is told; nothing is written then.
func (e *encoder) source(b *translate.Block, data, url string) bool {
	s := &b.Source
	switch {
	case s.Ref != "" && e.native():
		e.w.text("file_id", s.Ref)
	case s.Ref != "":
		e.rep.Exclude(translate.FeatureState, b.Path)
		return false
	case s.Data != "":
		e.w.text(data, "data:"+s.Mime+";base64,"+s.Data)
	case s.URL != "" && !e.f.HTTPURLs && !e.native():
		e.rep.ExcludeBecause(translate.FeatureImageURL, b.Path, "the upstream fetches nothing", "send the bytes")
		return false
	case s.URL != "":
		e.w.text(url, s.URL)
	default:
		e.rep.Exclude(translate.FeatureUnknownContent, b.Path)
		return false
	}
	return true
}

func (e *encoder) image(b *translate.Block) {
	if !e.native() && !e.rep.Take(translate.FeatureImage, b.Path, "") {
		return
	}
	e.w.begin("input_image")
	if e.source(b, "image_url", "image_url") && b.Detail != "" {
		e.w.text("detail", b.Detail)
	}
	e.mark(b)
	e.w.shut('}')
}

// file writes a document: one in plain text as text, since that is all it is.
func (e *encoder) file(b *translate.Block, role string) {
	if b.Source.Text != "" {
		text := b.Source.Text
		if b.Name != "" {
			text = b.Name + ":\n\n" + text
		}
		e.rep.NoteBecause(translate.Changed, translate.FeatureFile, b.Path, "", "", "a document in plain text is a text part there")
		e.textPart(b, text, role)
		return
	}
	if !e.native() && !e.rep.Take(translate.FeatureFile, b.Path, "") {
		return
	}
	e.w.begin("input_file")
	switch {
	case b.Name != "":
		e.w.text("filename", b.Name)
	case b.Source.Data != "" && !e.native():
		name := fileName(b.Source.Mime)
		e.w.text("filename", name)
		e.rep.NoteQuietly(translate.Defaulted, translate.FeatureFileName, b.Path, "", name, "the format wants a name")
	}
	e.source(b, "file_data", "file_url")
	e.mark(b)
	e.w.shut('}')
}

// fileName is the name of a file that has none: providers tell its kind by it.
func fileName(mime string) string {
	_, kind, _ := strings.Cut(mime, "/")
	switch {
	case kind == "plain":
		kind = "txt"
	case kind == "" || strings.ContainsAny(kind, ".+;"):
		kind = "bin"
	}
	return "file." + kind
}

func (e *encoder) audio(b *translate.Block) {
	if !e.native() && !e.rep.Take(translate.FeatureAudio, b.Path, "") {
		return
	}
	e.w.begin("input_audio")
	e.w.object("input_audio")
	e.w.text("data", b.Source.Data)
	e.w.text("format", strings.TrimPrefix(b.Source.Mime, "audio/"))
	e.w.shut('}')
	e.mark(b)
	e.w.shut('}')
}

// mark writes a cache point.
func (e *encoder) mark(b *translate.Block) {
	if b.Cache == nil {
		return
	}
	e.w.object("prompt_cache_breakpoint")
	e.w.text("mode", "explicit")
	if ttl := translate.OpenAILifetime(b.Cache, e.rep); ttl != "" {
		e.w.text("ttl", ttl)
	}
	e.w.shut('}')
}

// foreign writes back what only this format knows, and tells what only another
// one knows.
func (e *encoder) foreign(b *translate.Block) {
	switch {
	case e.native() && b.Origin == translate.Responses:
		e.w.element()
		e.w.b = append(e.w.b, b.Raw...)
	case b.Kind == translate.Hosted:
		e.rep.Exclude(translate.FeatureHostedHistory, b.Path)
	default:
		e.rep.Exclude(translate.FeatureUnknownContent, b.Path)
	}
}
