package chat

import (
	"strings"

	"rubicon/internal/wire/translate"
)

// part writes one part of a message of the user.
func (e *encoder) part(b *translate.Block) {
	switch b.Kind {
	case translate.Text, translate.Refusal:
		e.textPart(b, b.Text)
	case translate.Image:
		e.image(b)
	case translate.File:
		e.file(b)
	case translate.Audio:
		if e.rep.Take(translate.FeatureAudio, b.Path, "") {
			e.audio(b)
		}
	default:
		e.foreign(b)
	}
}

func (e *encoder) textPart(b *translate.Block, text string) {
	e.w.element()
	e.w.open('{')
	e.w.text("type", "text")
	e.w.text("text", text)
	e.mark(b)
	e.w.shut('}')
}

// place gives the URL of a source: of its bytes where they are here. It is false
// where the source cannot be sent, which is told.
func (e *encoder) place(b *translate.Block) (string, bool) {
	switch {
	case b.Source.Ref != "":
		e.rep.Exclude(translate.FeatureState, b.Path)
	case b.Source.Data != "":
		return "data:" + b.Source.Mime + ";base64," + b.Source.Data, true
	case b.Source.URL != "" && !e.f.HTTPURLs:
		e.rep.ExcludeBecause(translate.FeatureImageURL, b.Path, "the upstream fetches nothing", "send the bytes")
	case b.Source.URL != "":
		return b.Source.URL, true
	default:
		e.rep.Exclude(translate.FeatureUnknownContent, b.Path)
	}
	return "", false
}

func (e *encoder) image(b *translate.Block) {
	if !e.rep.Take(translate.FeatureImage, b.Path, "") {
		return
	}
	url, ok := e.place(b)
	if !ok {
		return
	}
	e.w.element()
	e.w.open('{')
	e.w.text("type", "image_url")
	e.w.object("image_url")
	e.w.text("url", url)
	if detail := e.detail(b); detail != "" {
		e.w.text("detail", detail)
	}
	e.w.shut('}')
	e.mark(b)
	e.w.shut('}')
}

// detail is an image's detail in a word of this format.
func (e *encoder) detail(b *translate.Block) string {
	switch b.Detail {
	case "", "auto", "low", "high":
		return b.Detail
	}
	e.rep.NoteBecause(translate.Changed, translate.FeatureImageDetail, b.Path, b.Detail, "high", "the format has no finer one")
	return "high"
}

// file writes a document: one in plain text as text, since that is all it is.
func (e *encoder) file(b *translate.Block) {
	if b.Source.Text != "" {
		text := b.Source.Text
		if b.Name != "" {
			text = b.Name + ":\n\n" + text
		}
		e.rep.NoteBecause(translate.Changed, translate.FeatureFile, b.Path, "", "", "a document in plain text is a text part there")
		e.textPart(b, text)
		return
	}
	switch {
	case b.Source.URL != "" && !e.rep.Take(translate.FeatureFileURL, b.Path, ""):
		return
	case !e.rep.Take(translate.FeatureFile, b.Path, ""):
		return
	case b.Source.Ref != "" && e.native():
		e.filePart(b, "file_id", b.Source.Ref)
		return
	}
	if data, ok := e.place(b); ok {
		e.filePart(b, "file_data", data)
	}
}

func (e *encoder) filePart(b *translate.Block, member, value string) {
	e.w.element()
	e.w.open('{')
	e.w.text("type", "file")
	e.w.object("file")
	if b.Name != "" {
		e.w.text("filename", b.Name)
	} else if member == "file_data" {
		e.w.text("filename", fileName(b.Source.Mime))
		e.rep.NoteQuietly(translate.Defaulted, translate.FeatureFileName, b.Path, "", fileName(b.Source.Mime), "the format wants a name")
	}
	e.w.text(member, value)
	e.w.shut('}')
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
	if b.Source.Data == "" {
		e.rep.Exclude(translate.FeatureUnknownContent, b.Path)
		return
	}
	e.w.element()
	e.w.open('{')
	e.w.text("type", "input_audio")
	e.w.object("input_audio")
	e.w.text("data", b.Source.Data)
	e.w.text("format", strings.TrimPrefix(b.Source.Mime, "audio/"))
	e.w.shut('}')
	e.mark(b)
	e.w.shut('}')
}
