package messages

import (
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// wholeBlock is a block of an answer that is not streamed.
type wholeBlock struct {
	typ       string
	head      translate.Block
	text      strings.Builder
	seal      string
	citations [][]byte
}

// whole begins a block of the whole answer, where one is wanted.
func (e *answerEncoder) whole(typ string) {
	if !e.streamed {
		e.block.whole = &wholeBlock{typ: typ, head: e.block.head}
		e.blocks = append(e.blocks, e.block.whole)
	}
}

func (e *answerEncoder) collect(text string) {
	if e.block.whole != nil {
		e.block.whole.text.WriteString(text)
	}
}

// Whole is the answer of all events so far.
func (e *answerEncoder) Whole() ([]byte, error) {
	switch {
	case e.streamed:
		return nil, errStreamed
	case !e.ended || e.failed:
		return nil, ErrUnfinished
	}
	w := writer{}
	w.open('{')
	e.envelope(&w)
	w.key("content").open('[')
	for _, b := range e.blocks {
		if err := b.write(&w, e.stop.Word); err != nil {
			return nil, err
		}
	}
	w.close(']')
	e.writeStop(&w)
	w.key("usage")
	e.writeUsage(&w, e.final(), e.tier)
	w.close('}')
	return w.b, nil
}

func (b *wholeBlock) write(w *writer, stop translate.StopWord) error {
	text := b.text.String()
	switch b.typ {
	case "text", "thinking", "redacted_thinking":
		b.prose(w, text)
	case "tool_use":
		input, err := arguments(text, stop)
		if err != nil {
			return err
		}
		w.open('{')
		w.key("type").text(b.typ)
		w.key("id").text(b.head.ID)
		w.key("name").text(b.head.Name)
		w.key("input").raw(input)
		w.close('}')
	default:
		raw := []byte(b.head.Raw)
		if text != "" && jsonscan.Valid([]byte(text)) {
			raw, _ = jsonscan.Set(raw, jsonscan.Edit{Key: "input", Value: []byte(text)})
		}
		w.raw(raw)
	}
	return nil
}

func (b *wholeBlock) prose(w *writer, text string) {
	w.open('{')
	w.key("type").text(b.typ)
	switch b.typ {
	case "text":
		w.key("text").text(text)
		if b.citations != nil {
			w.key("citations").open('[')
			for _, c := range b.citations {
				w.raw(c)
			}
			w.close(']')
		}
	case "thinking":
		w.key("thinking").text(text)
		w.key("signature").text(b.seal)
	default:
		w.key("data").text(b.head.Seal.Data)
	}
	w.close('}')
}

// arguments are a call's arguments as the object that the format wants. A call
// that the model finished without a word has none.
func arguments(text string, stop translate.StopWord) ([]byte, error) {
	if strings.TrimSpace(text) == "" && (stop == translate.ToolUse || stop == translate.End) {
		return []byte("{}"), nil
	}
	if jsonscan.KindOf([]byte(text)) != jsonscan.KindObject || !jsonscan.Valid([]byte(text)) {
		return nil, ErrArguments
	}
	return []byte(text), nil
}
