package messages

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// imageTypes are the images that the format takes.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// block writes one block of a turn, or of a result.
func (e *encoder) block(b *translate.Block, role translate.Role) {
	switch b.Kind {
	case translate.Text, translate.Refusal:
		e.text(b, role)
	case translate.Image:
		e.image(b, role)
	case translate.File:
		e.file(b, role)
	case translate.Audio:
		e.rep.Take(translate.FeatureAudio, b.Path, "")
	case translate.Think:
		e.thought(b)
	case translate.Call:
		e.call(b)
	case translate.Result:
		e.result(b)
	default:
		e.foreign(b)
	}
}

// begin opens a block; end closes it with its cache point.
func (e *encoder) begin(typ string) {
	e.w.open('{')
	e.w.key("type").text(typ)
}

func (e *encoder) end(b *translate.Block) {
	e.cache(b.Cache)
	e.w.close('}')
}

func (e *encoder) text(b *translate.Block, role translate.Role) {
	if b.Kind == translate.Refusal {
		e.rep.Take(translate.FeatureRefusal, b.Path, "")
	}
	if b.Type == toolReference && e.native() {
		e.begin(toolReference)
		e.w.key("tool_name").text(b.Text)
		e.end(b)
		return
	}
	e.begin("text")
	e.w.key("text").text(b.Text)
	if b.Citations != nil {
		e.citations(b, role)
	}
	e.end(b)
}

// citations are kept where they are of this format and stand on the assistant's
// text: those of others have another shape, and on the user's they are refused.
func (e *encoder) citations(b *translate.Block, role translate.Role) {
	if !e.native() || role != translate.Assistant {
		e.rep.NoteBecause(translate.Dropped, translate.FeatureCitations, b.Path, "", "", "the upstream takes no citations of another format, and none on a user's text")
		return
	}
	e.w.key("citations").raw(b.Citations)
}

func (e *encoder) image(b *translate.Block, role translate.Role) {
	if role != translate.User {
		e.rep.Exclude(translate.FeatureFileOfReply, b.Path)
		return
	}
	if !e.rep.Take(translate.FeatureImage, b.Path, "") {
		return
	}
	if b.Detail != "" && b.Detail != "auto" {
		e.rep.Take(translate.FeatureImageDetail, b.Path, b.Detail)
	}
	mime := b.Source.Mime
	if mime == "image/jpg" {
		mime = "image/jpeg"
	}
	if b.Source.Data != "" && !slices.Contains(imageTypes, mime) {
		e.rep.ExcludeBecause(translate.FeatureImage, b.Path, "the format takes no images of the type "+mime, "send a PNG, JPEG, GIF or WebP image")
		return
	}
	b.Source.Mime = mime
	e.begin("image")
	e.source(b)
	e.end(b)
}

// file writes a document: a PDF as its bytes, text as text, or an address.
func (e *encoder) file(b *translate.Block, role translate.Role) {
	if role != translate.User {
		e.rep.Exclude(translate.FeatureFileOfReply, b.Path)
		return
	}
	s := &b.Source
	if s.Data != "" && s.Mime != "application/pdf" {
		text, err := base64.StdEncoding.DecodeString(s.Data)
		if !strings.HasPrefix(s.Mime, "text/") && s.Mime != "application/json" || err != nil || !utf8.Valid(text) {
			e.rep.ExcludeBecause(translate.FeatureFile, b.Path, "the format takes no files of the type "+s.Mime, "send a PDF, or text")
			return
		}
		*s = translate.Source{Text: string(text)}
	}
	if s.Text == "" && !e.rep.Take(translate.FeatureFile, b.Path, "") {
		return
	}
	if s.URL != "" && !e.rep.Take(translate.FeatureFileURL, b.Path, "") {
		return
	}
	e.begin("document")
	e.source(b)
	if b.Name != "" {
		e.w.key("title").text(b.Name)
	}
	e.end(b)
}

func (e *encoder) source(b *translate.Block) {
	s := &b.Source
	e.w.key("source").open('{')
	switch {
	case s.Ref != "":
		if !e.native() {
			e.rep.Exclude(translate.FeatureState, b.Path)
		}
		e.w.key("type").text("file")
		e.w.key("file_id").text(s.Ref)
	case s.URL != "":
		e.w.key("type").text("url")
		e.w.key("url").text(s.URL)
	case s.Data != "":
		e.w.key("type").text("base64")
		e.w.key("media_type").text(s.Mime)
		e.w.key("data").text(s.Data)
	default:
		e.w.key("type").text("text")
		e.w.key("media_type").text("text/plain")
		e.w.key("data").text(s.Text)
	}
	e.w.close('}')
}

// thought writes a thinking block byte for byte as its vendor signed it.
func (e *encoder) thought(b *translate.Block) {
	if b.Seal.Kind == translate.Redacted {
		e.begin("redacted_thinking")
		e.w.key("data").text(b.Seal.Data)
	} else {
		e.begin("thinking")
		e.w.key("thinking").text(b.Reasoned())
		e.w.key("signature").text(b.Seal.Data)
	}
	e.w.close('}')
}

func (e *encoder) call(b *translate.Block) {
	input := b.Input
	switch {
	case b.Custom:
		input = translate.WrapInput(input)
	case strings.TrimSpace(input) == "":
		input = "{}" // how some servers write a call without arguments
	case jsonscan.KindOf([]byte(input)) != jsonscan.KindObject || !jsonscan.Valid([]byte(input)):
		e.rep.Take(translate.FeatureArguments, b.Path, "")
		return
	}
	id := e.ids.Call(b.ID)
	if id != b.ID {
		e.rep.Note(translate.Changed, translate.FeatureCallID, b.Path, "", "")
	}
	e.begin("tool_use")
	e.w.key("id").text(id)
	e.w.key("name").text(e.offers.Names.Wire(b.Namespace, b.Name))
	e.w.key("input").raw([]byte(input))
	e.end(b)
}

func (e *encoder) result(b *translate.Block) {
	e.begin("tool_result")
	e.w.key("tool_use_id").text(e.ids.Result(b.ID))
	if inner := e.inner(b); len(inner) > 0 {
		e.w.key("content").open('[')
		for i := range inner {
			e.block(&inner[i], translate.User)
		}
		e.w.close(']')
	}
	if b.Failed {
		e.w.key("is_error").word("true")
	}
	e.end(b)
}

// inner is what a result holds and may hold.
func (e *encoder) inner(b *translate.Block) (kept []translate.Block) {
	for _, in := range b.Inner {
		switch in.Kind {
		case translate.Text, translate.Refusal:
			if !e.says(&in) {
				continue
			}
		case translate.Image, translate.File, translate.Audio, translate.Unknown, translate.Hosted:
		default:
			e.rep.ExcludeBecause(translate.FeatureUnknownContent, in.Path, "a result holds text, images and documents there", "send it as text")
			continue
		}
		kept = append(kept, in)
	}
	return kept
}

// foreign writes back what only this format knows.
func (e *encoder) foreign(b *translate.Block) {
	switch {
	case e.native() && b.Origin == translate.Messages:
		e.w.raw(b.Raw)
	case b.Kind == translate.Hosted:
		e.rep.Exclude(translate.FeatureHostedHistory, b.Path)
	default:
		e.rep.Take(translate.FeatureUnknownContent, b.Path, b.Type)
	}
}
