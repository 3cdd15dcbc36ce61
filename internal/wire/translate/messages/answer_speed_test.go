package messages

import (
	"testing"

	"rubicon/internal/wire/translate"
)

func TestDeltaAllocates(t *testing.T) {
	d := newAnswerDecoder()
	e := newAnswerEncoder(&translate.Request{Stream: true}, identity)
	for _, f := range []string{`{"type":"message_start","message":{"id":"m"}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`} {
		events, err := d.Event("", []byte(f))
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			e.Events(nil, ev)
		}
	}
	data := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words of an answer"}}`)
	dst := make([]translate.Out, 0, 8)
	if n := testing.AllocsPerRun(100, func() { oneDelta(d, e, data, dst) }); n > 4 {
		t.Errorf("%v allocations", n)
	}
}

func oneDelta(d *answerDecoder, e *answerEncoder, data []byte, dst []translate.Out) {
	events, _ := d.Event("content_block_delta", data)
	for i := range events {
		dst = e.Events(dst[:0], events[i])
	}
}

func BenchmarkDelta(b *testing.B) {
	d := newAnswerDecoder()
	e := newAnswerEncoder(&translate.Request{Stream: true}, identity)
	events, _ := d.Event("", []byte(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`))
	for _, ev := range events {
		e.Events(nil, ev)
	}
	data := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words of an answer"}}`)
	dst := make([]translate.Out, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		oneDelta(d, e, data, dst)
	}
}
