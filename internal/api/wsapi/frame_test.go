package wsapi

import (
	"bytes"
	"encoding/json"
	"testing"

	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol/responses"
)

func FuzzReadFrame(f *testing.F) {
	for _, s := range []string{`{"type":"response.create"}`, `{"type":"response.cancel"}`, `{"type":1}`, `{`, `[]`, ``, `{"type":"response.create","type":"x"}`, `{"type":"response.processed","response_id":"resp_1"}`,
		`{"t\u0079pe":"response.creat\u0065","stream_id":{}}`, "{\"type\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		create, bad := readFrame(b)
		if !bytes.Equal(b, before) {
			t.Fatal("the frame was written to")
		}
		var m map[string]json.RawMessage
		object := json.Unmarshal(b, &m) == nil && m != nil
		switch {
		case bad == nil:
			if !object {
				t.Fatalf("taken: %q", b)
			}
			checkStream(b)
		case create:
			t.Fatalf("taken and refused: %q", b)
		case bad.Status != 400:
			t.Fatalf("status %d", bad.Status)
		case bad.Code == fault.InvalidJSON && object && json.Valid(b):
			t.Fatalf("an object was refused as no JSON: %q", b)
		case bad.Code == fault.UnsupportedEvent && !json.Valid(b):
			t.Fatalf("no JSON was refused as an event: %q", b)
		}
		if bad != nil && !json.Valid(fault.Frame(bad)) {
			t.Fatalf("the refusal is no JSON: %q", fault.Frame(bad))
		}
	})
}

func TestReadFrame(t *testing.T) {
	for in, want := range map[string]struct {
		create bool
		code   string
	}{
		`{"type":"response.create"}`:                                  {true, ""},
		`{"type":"response.processed"}`:                               {false, ""},
		`{"type":"response.processed","response_id":"resp_1","x":[]}`: {false, ""},
		`{"type":"response.cancel"}`:                                  {false, fault.UnsupportedEvent},
		`{"type":"response.processed2"}`:                              {false, fault.UnsupportedEvent},
		`{"type":["response.processed"]}`:                             {false, fault.UnsupportedEvent},
		`{"type":"response.processed"`:                                {false, fault.InvalidJSON},
	} {
		create, refused := readFrame([]byte(in))
		code := ""
		if refused != nil {
			code = refused.Code
		}
		if create != want.create || code != want.code {
			t.Errorf("%s: create %v, refused %q", in, create, code)
		}
	}
}

func FuzzComplete(f *testing.F) {
	f.Add([]byte(`{"a":1},{"b":2}`), []byte(`{"model":"m","input":"x","previous_response_id":"resp_1"}`))
	f.Add([]byte(``), []byte(`{"input":[ 1 , 2 ],"store":true}`))
	f.Add([]byte(`1`), []byte(`{"input":null,"store":null}`))
	f.Add([]byte(`1`), []byte(`{"input":[],"input":[3]}`))
	f.Fuzz(func(t *testing.T, old, body []byte) {
		array := append(append([]byte("["), old...), ']')
		if !json.Valid(array) || !json.Valid(body) {
			return
		}
		if _, bad := responses.ParseRequest(body); bad != nil {
			return // never completed
		}
		p := remembered{id: "resp_1", items: elements(array)}
		out, err := p.complete(body)
		if err != nil {
			t.Fatal(err)
		}
		var got, was struct{ Input json.RawMessage }
		var have, want []json.RawMessage
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		_ = json.Unmarshal(body, &was)
		if err := json.Unmarshal(got.Input, &have); err != nil {
			t.Fatalf("input %s", got.Input)
		}
		_ = json.Unmarshal(array, &want)
		if len(was.Input) > 0 && was.Input[0] == '"' {
			want = append(want, nil)
		} else {
			var own []json.RawMessage
			_ = json.Unmarshal(was.Input, &own)
			want = append(want, own...)
		}
		if len(have) != len(want) {
			t.Fatalf("%d items, want %d: %s", len(have), len(want), got.Input)
		}
		for i := range want {
			if want[i] != nil && !bytes.Equal(want[i], have[i]) {
				t.Fatalf("item %d is %s, want %s", i, have[i], want[i])
			}
		}
		again, bad := responses.ParseRequest(out)
		if bad != nil || again.PrevResponse != "" {
			t.Fatalf("completed to %s: %v", out, bad)
		}
	})
}

func TestElements(t *testing.T) {
	for in, want := range map[string]string{
		``: "", `null`: "", `"x"`: "", `{}`: "", `[]`: "", "[ \n]": "", `[1]`: "1", "[ {\"a\" : 1} ,\t[2]\n]": "{\"a\" : 1} ,\t[2]",
	} {
		if got := string(elements([]byte(in))); got != want {
			t.Errorf("elements(%s) = %q, want %q", in, got, want)
		}
	}
	for _, tt := range [][3]string{{"", "", ""}, {"1", "", "1"}, {"", "2", "2"}, {"1", "2", "1,2"}} {
		if got := string(joined([]byte(tt[0]), []byte(tt[1]))); got != tt[2] {
			t.Errorf("joined(%q, %q) = %q", tt[0], tt[1], got)
		}
	}
}
