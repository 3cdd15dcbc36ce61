package scenario

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"time"
)

// event is one frame as a client received it: of an event stream or a socket.
type event struct {
	at      time.Time
	name    string // event: line
	data    string
	comment string // a comment that stood alone
	rest    string // bytes that are no whole event
}

// kind is the event's type: the JSON's own, else its name.
func (e *event) kind() string {
	var v struct{ Type string }
	if json.Unmarshal([]byte(e.data), &v) == nil && v.Type != "" {
		return v.Type
	}
	if e.data == "[DONE]" {
		return e.data
	}
	if e.name == "" && strings.HasPrefix(e.data, "{") {
		return chunkKind(e.data)
	}
	return e.name
}

// chunkKind names the chunks of Chat, which have no type.
func chunkKind(data string) string {
	var v struct {
		Error  json.RawMessage
		Object string
	}
	_ = json.Unmarshal([]byte(data), &v)
	if v.Error != nil {
		return "error"
	}
	return v.Object
}

// decoder reads an event stream as the specification says, without leniency:
// what it cannot read shows in the recording.
type decoder struct{ in *bufio.Reader }

func newDecoder(r io.Reader) *decoder { return &decoder{in: bufio.NewReaderSize(r, 64<<10)} }

// next gives the next event; with an error the bytes that were no whole one.
func (d *decoder) next() (*event, error) {
	e, raw, data, any := &event{}, "", []string{}, false
	for {
		line, err := d.in.ReadString('\n')
		raw += line
		if err != nil {
			if raw == "" {
				return nil, err
			}
			return &event{at: time.Now(), rest: raw}, err
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			if !any {
				continue
			}
			e.at, e.data = time.Now(), strings.Join(data, "\n")
			return e, nil
		}
		any = true
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			e.name = value
		case "data":
			data = append(data, value)
		case "":
			e.comment += value
		default:
			e.rest += line + "\n"
		}
	}
}
