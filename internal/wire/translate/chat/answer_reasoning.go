package chat

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// detailState is where the items of reasoning_details are: a new index begins a
// new block, and so does anything behind a seal.
type detailState struct {
	index  int64
	sealed bool
}

// details reads reasoning_details; false if there is no reasoning text in them,
// so that another member's counts.
func (d *answerDecoder) details(v []byte) (spoke bool) {
	el := jsonscan.Array(v)
	for el.Next() {
		item := el.Value()
		if item[0] != '{' {
			continue
		}
		text, part := textOf(item, "text"), translate.PartThought
		if text == "" {
			text = textOf(item, "thinking")
		}
		if text == "" {
			text, part = textOf(item, "summary"), translate.PartSummary
		}
		if text != "" {
			if n, ok := jsonscan.Int(jsonscan.Get(item, "index")); ok {
				d.turnTo(n)
			}
			d.thought(part, text)
			spoke = true
		}
		if seal := detailSeal(item); seal != nil {
			d.seal(seal)
		}
	}
	return spoke
}

// turnTo ends the block of reasoning of another index.
func (d *answerDecoder) turnTo(index int64) {
	if index != d.detail.index && d.open >= 0 && d.kind == translate.Think {
		d.shut()
	}
	d.detail.index = index
}

// thought continues the reasoning. What was sealed is complete.
func (d *answerDecoder) thought(part translate.Part, text string) {
	if text == "" {
		return
	}
	if d.detail.sealed && d.open >= 0 && d.kind == translate.Think {
		d.shut()
	}
	d.say(translate.Think, part, text, nil)
}

func (d *answerDecoder) seal(s *translate.Seal) {
	if d.open < 0 || d.kind != translate.Think || d.detail.sealed {
		d.begin(translate.Block{Kind: translate.Think})
	}
	d.detail.sealed = true
	d.emit(translate.Event{Kind: translate.Sealed, Index: d.open, Seal: s})
}

// signature is a signature beside a call, or beside the text, as reasoning of
// its own.
func (d *answerDecoder) signature(extra []byte, call string) {
	b := signature(extra, "", call)
	d.begin(translate.Block{Kind: translate.Think, ID: call})
	d.detail.sealed = true
	d.emit(translate.Event{Kind: translate.Sealed, Index: d.open, Seal: b.Seal})
}
