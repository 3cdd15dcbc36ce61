package recorded_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/protocol/recorded"
	"rubicon/internal/wire/sse"
)

// Every recorded stream, of APIs that no channel speaks too, survives the
// decoder byte for byte, however its bytes come.
func TestFramesOfRecordedStreams(t *testing.T) {
	for _, api := range []string{"chat", "messages", "responses", "gemini"} {
		for _, e := range recorded.Streams(t, api) {
			t.Run(api+"/"+e.Name, func(t *testing.T) {
				lf := strings.ReplaceAll(e.Body, "\r\n", "\n")
				for _, wire := range []string{lf, strings.ReplaceAll(lf, "\n", "\r\n"), strings.ReplaceAll(lf, "\n", "\r")} {
					for _, size := range []int{1, 5, 64, 4096, len(wire)} {
						if d := cmp.Diff(e.Normal(), frames(t, recorded.Chunks(wire, size))); d != "" {
							t.Fatalf("in pieces of %d: %s", size, d)
						}
					}
				}
			})
		}
	}
}

func frames(t *testing.T, r io.Reader) string {
	t.Helper()
	var all strings.Builder
	d := sse.NewDecoder(r, 1<<20)
	defer d.Release()
	for {
		f, err := d.Next()
		if err == io.EOF {
			return all.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if f.HasData && string(f.Data) != "[DONE]" && !json.Valid(f.Data) {
			t.Fatalf("no JSON: %q", f.Data)
		}
		all.Write(f.Raw)
	}
}
