package chat

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// carrierFormat marks an item of reasoning_details that holds a carrier of the
// gateway's and not a provider's own bytes.
const carrierFormat = "rubicon-v1"

// detail reads one item of reasoning_details, or one of LiteLLM's
// thinking_blocks; items that say nothing are none.
func detail(v []byte, at string) []translate.Block {
	b := translate.Block{Kind: translate.Think, Path: at}
	b.Text = textOf(v, "text")
	if b.Text == "" {
		b.Text = textOf(v, "thinking")
	}
	if s := textOf(v, "summary"); s != "" {
		b.Summary = []string{s}
	}
	b.Seal = detailSeal(v)
	if b.Text == "" && b.Summary == nil && b.Seal == nil {
		return nil
	}
	return []translate.Block{b}
}

// detailSeal is what an item of reasoning_details holds for its maker alone: the
// item without its text, since that comes in pieces in a stream.
func detailSeal(v []byte) *translate.Seal {
	signature, data := textOf(v, "signature"), textOf(v, "data")
	if signature == "" && data == "" {
		return nil
	}
	switch {
	case jsonscan.Equal(jsonscan.Get(v, "format"), carrierFormat):
		return &translate.Seal{Kind: translate.Detail, Data: data}
	case jsonscan.Equal(jsonscan.Get(v, "type"), "thinking"):
		return &translate.Seal{Kind: translate.Signature, Data: signature}
	case jsonscan.Equal(jsonscan.Get(v, "type"), "redacted_thinking"):
		return &translate.Seal{Kind: translate.Redacted, Data: data}
	}
	w := writer{}
	w.open('{')
	m := jsonscan.Object(v)
	for m.Next() {
		switch key := string(m.Key()); key {
		case "text", "summary":
		default:
			w.raw(key, m.Value())
		}
	}
	w.shut('}')
	return &translate.Seal{Kind: translate.Detail, Data: string(w.b)}
}

// signed tells whether an extra_content holds a signature of Gemini's.
func signed(extra []byte) bool {
	return jsonscan.TextLen(jsonscan.Get(extra, "google", "thought_signature")) > 0
}

// signature is a signature beside a call as a block of its own, in front of it.
// The call's id says where it belongs.
func signature(extra []byte, at, call string) translate.Block {
	return translate.Block{Kind: translate.Think, Path: at, ID: call, Seal: &translate.Seal{Kind: translate.Thought, Data: string(extra)}}
}

// writeDetail writes a seal of an item with the text that belongs to it.
func (w *writer) writeDetail(b *translate.Block) {
	w.element()
	w.open('{')
	if b.Seal != nil && jsonscan.KindOf([]byte(b.Seal.Data)) == jsonscan.KindObject {
		m := jsonscan.Object([]byte(b.Seal.Data))
		for m.Next() {
			w.raw(string(m.Key()), m.Value())
		}
	} else if len(b.Summary) > 0 {
		w.text("type", "reasoning.summary")
	} else {
		w.text("type", "reasoning.text")
	}
	if len(b.Summary) > 0 && b.Text == "" {
		w.text("summary", b.Reasoned())
	} else if b.Text != "" {
		w.text("text", b.Text)
	}
	w.shut('}')
}

// writeCarrier writes a seal of another format as an item that a client sends
// back unread.
func (w *writer) writeCarrier(s *translate.Seal) {
	w.element()
	w.open('{')
	w.text("type", "reasoning.encrypted")
	w.text("data", s.Data)
	w.text("format", carrierFormat)
	w.shut('}')
}

func textOf(v []byte, key string) string {
	s, _ := jsonscan.Text(jsonscan.Get(v, key))
	return s
}
