package httpapi

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"rubicon/internal/api/pressure"
	"rubicon/internal/config"
)

// reader is a server that answers with the body as the gateway read it, or with
// the code of the refusal.
func reader(t *testing.T, most int64) *httptest.Server {
	t.Helper()
	cfg := config.Default()
	cfg.Limits.RequestBody = most
	a := &api{Deps: Deps{Config: func() *config.Config { return &cfg }}}
	uploads := pressure.NewUploads(func() int64 { return 1 << 30 })
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upload := uploads.Begin("a", r.RemoteAddr)
		defer upload.End()
		body, f := a.readBody(w, r, upload)
		if f != nil {
			w.WriteHeader(f.Status)
			_, _ = io.WriteString(w, f.Code)
			return
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(srv.Close)
	return srv
}

func post(t *testing.T, srv *httptest.Server, encoding string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequest("POST", srv.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

func gzipped(t *testing.T, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstded(t *testing.T, s string, o ...zstd.EOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, o...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEncodedBodies(t *testing.T) {
	const most = 100_000
	text := strings.Repeat("a request, ", 5000)
	bomb := strings.Repeat("x", most+1)
	skipped := append([]byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 1, 0}, make([]byte, 64<<10)...) // a frame that holds nothing
	for name, c := range map[string]struct {
		encoding string
		body     []byte
		status   int
		answer   string
	}{
		"none":                    {"", []byte(text), 200, text},
		"identity":                {"Identity", []byte(text), 200, text},
		"empty":                   {"", nil, 200, ""},
		"gzip":                    {"gzip", gzipped(t, text), 200, text},
		"x-gzip":                  {"X-GZip", gzipped(t, text), 200, text},
		"two members":             {"gzip", append(gzipped(t, "a"), gzipped(t, "b")...), 200, "ab"},
		"zstd":                    {"zstd", zstded(t, text), 200, text},
		"two frames":              {"zstd", append(zstded(t, "a"), zstded(t, "b")...), 200, "ab"},
		"as large as may be":      {"gzip", gzipped(t, bomb[1:]), 200, bomb[1:]},
		"a gzip bomb":             {"gzip", gzipped(t, bomb), 413, "payload_too_large"},
		"a zstd bomb":             {"zstd", zstded(t, bomb), 413, "payload_too_large"},
		"members without end":     {"gzip", bytes.Repeat(gzipped(t, ""), 1+most/20), 413, "payload_too_large"},
		"frames without content":  {"zstd", bytes.Repeat(skipped, 2), 413, "payload_too_large"},
		"too large":               {"", []byte(bomb), 413, "payload_too_large"},
		"no gzip":                 {"gzip", []byte(text), 400, "invalid_request"},
		"no zstd":                 {"zstd", []byte(text), 400, "invalid_request"},
		"cut gzip":                {"gzip", gzipped(t, text)[:20], 400, "invalid_request"},
		"cut zstd":                {"zstd", zstded(t, text)[:20], 400, "invalid_request"},
		"bytes behind gzip":       {"gzip", append(gzipped(t, text), "{}"...), 400, "invalid_request"},
		"bytes behind zstd":       {"zstd", append(zstded(t, text), "{}"...), 400, "invalid_request"},
		"a window of 64 MiB":      {"zstd", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 16 << 3, 1, 0, 0}, 400, "invalid_request"},
		"another encoding":        {"br", []byte(text), 415, "unsupported_encoding"},
		"two of them":             {"gzip, zstd", []byte(text), 415, "unsupported_encoding"},
		"one that is none, empty": {" ", []byte(text), 200, text},
	} {
		t.Run(name, func(t *testing.T) {
			srv := reader(t, most)
			for how, body := range map[string]io.Reader{"with a length": bytes.NewReader(c.body), "in chunks": io.MultiReader(bytes.NewReader(c.body))} {
				if status, answer := post(t, srv, c.encoding, body); status != c.status || answer != c.answer {
					t.Errorf("%s: %d, %d bytes: %.100s", how, status, len(answer), answer)
				}
			}
		})
	}
}

// A bomb takes no more memory than a body may.
func TestBombsAreBounded(t *testing.T) {
	const most = 1 << 20
	srv := reader(t, most)
	for encoding, bomb := range map[string][]byte{"gzip": gzipped(t, strings.Repeat("x", 16*most)), "zstd": zstded(t, strings.Repeat("x", 16*most))} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if status, answer := post(t, srv, encoding, bytes.NewReader(bomb)); status != 413 {
			t.Errorf("%s: %d %s", encoding, status, answer)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 10*most+maxWindow {
			t.Errorf("%s: %d bytes were allocated for a bomb of %d", encoding, took, len(bomb))
		}
	}
}

// The buffer grows with what arrives, and holds no more than it counts.
func TestBuffersGrowWithWhatArrives(t *testing.T) {
	for _, c := range []struct{ size, expected, most int64 }{
		{0, 0, 100}, {1, 32 << 20, 32 << 20}, {5000, 5000, 32 << 20}, {1 << 20, -1, 32 << 20}, {100, 100, 100}, {100_000, 100_000, 100_000},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			b := buffer{most: c.most, expected: c.expected}
			body, err := b.fill(strings.NewReader(strings.Repeat("x", int(c.size))))
			if err != nil || int64(len(body)) != c.size {
				t.Fatalf("%d bytes, %v", len(body), err)
			}
			if most := max(2*c.size+1, firstRead); int64(cap(body)) > most {
				t.Errorf("room for %d", cap(body))
			}
			if c.expected == c.size && c.size > firstRead && int64(cap(body)) != c.size+1 {
				t.Errorf("room for %d, which is not to measure", cap(body))
			}
		})
	}
}
