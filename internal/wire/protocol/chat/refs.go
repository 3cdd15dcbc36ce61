package chat

import (
	"bytes"
	"strconv"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// What a request names of upstream state stands in its messages. Keys are
// compared without case and every occurrence of a key counts: whichever one a
// provider reads, no id travels up unseen.

// inlineMembers are members of content parts that hold the attachment itself,
// which is not billed by its bytes.
var inlineMembers = [...]struct{ part, member string }{
	{"image_url", "url"},
	{"input_audio", "data"},
	{"file", "file_data"},
	{"video_url", "url"},
	{"audio_url", "url"},
}

func readMessages(r *protocol.Request, raw []byte) {
	el := jsonscan.Array(raw)
	for i := 0; el.Next(); i++ {
		readMessage(r, el.Value(), "messages["+strconv.Itoa(i)+"]")
	}
}

func readMessage(r *protocol.Request, raw []byte, at string) {
	m := jsonscan.Object(raw)
	for m.Next() {
		v := m.Value()
		switch key := m.Key(); {
		case is(key, "content"):
			readParts(r, v, at+".content")
		case is(key, "audio"):
			readID(r, v, "id", protocol.KindAudio, at+".audio.id")
		case is(key, "reasoning_details"), is(key, "thinking_blocks"):
			readSealedList(r, v, at+"."+string(key))
		case is(key, "extra_content"):
			readSealed(r, jsonscan.Get(v, "google"), at+".extra_content.google")
		case is(key, "tool_calls"):
			readCalls(r, v, at+".tool_calls")
		}
	}
}

func readParts(r *protocol.Request, raw []byte, at string) {
	el := jsonscan.Array(raw)
	for i := 0; el.Next(); i++ {
		readPart(r, el.Value(), at+"["+strconv.Itoa(i)+"]")
	}
}

// readPart reads one content part: a file's id, and whether it is an
// attachment.
func readPart(r *protocol.Request, raw []byte, at string) {
	attached := false
	m := jsonscan.Object(raw)
	for m.Next() {
		key, v := m.Key(), m.Value()
		if is(key, "file") {
			readID(r, v, "file_id", protocol.KindFile, at+".file.file_id")
		}
		for _, inline := range inlineMembers {
			if !is(key, inline.part) {
				continue
			}
			attached = true
			r.EstimateBytes -= inlineBytes(v, inline.member)
		}
	}
	if attached {
		r.Attachments++
	}
}

// inlineBytes is how many of an attachment's bytes stand in the body: those of
// a data URL, or of base64 where no URL is expected. An address is part of the
// body like any text.
func inlineBytes(part []byte, member string) int64 {
	if part[0] == '"' { // image_url as a plain string
		return dataURLBytes(part)
	}
	var n int64
	m := jsonscan.Object(part)
	for m.Next() {
		switch {
		case !is(m.Key(), member) || m.Value()[0] != '"':
		case member == "url":
			n += dataURLBytes(m.Value())
		default:
			n += int64(len(m.Value()) - 2)
		}
	}
	return n
}

func dataURLBytes(raw []byte) int64 {
	if len(raw) < 7 || !is(raw[1:6], "data:") {
		return 0
	}
	return int64(len(raw) - 2)
}

func readCalls(r *protocol.Request, raw []byte, at string) {
	el := jsonscan.Array(raw)
	for i := 0; el.Next(); i++ {
		google := jsonscan.Get(el.Value(), "extra_content", "google")
		readSealed(r, google, at+"["+strconv.Itoa(i)+"].extra_content.google")
	}
}

func readSealedList(r *protocol.Request, raw []byte, at string) {
	el := jsonscan.Array(raw)
	for i := 0; el.Next(); i++ {
		readSealed(r, el.Value(), at+"["+strconv.Itoa(i)+"]")
	}
}

func readSealed(r *protocol.Request, item []byte, at string) {
	eachSealed(item, func(member string, field []byte) {
		text, _ := jsonscan.Text(field)
		r.Name(protocol.Ref{Kind: protocol.KindSealed, ID: protocol.Seal(text), Param: at + "." + member})
	})
}

// readID reads all occurrences of an id in an object.
func readID(r *protocol.Request, object []byte, member, kind, param string) {
	m := jsonscan.Object(object)
	for m.Next() {
		if !is(m.Key(), member) {
			continue
		}
		if id, ok := jsonscan.Text(m.Value()); ok && id != "" {
			r.Name(protocol.Ref{Kind: kind, ID: id, Param: param})
		}
	}
}

func is(key []byte, name string) bool {
	return string(key) == name || bytes.EqualFold(key, []byte(name))
}
