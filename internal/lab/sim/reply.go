package sim

import (
	"net/http"
	"strings"
)

// reply writes the head, and the whole body when the step brings it or when nothing else follows.
func (p *player) reply(s Step, last bool) error {
	body, contentType, whole := p.wholeReply(s)
	if s.Status == 0 {
		s.Status = http.StatusOK
	}
	if s.Type == "" {
		s.Type = contentType
	}
	if !whole && !last {
		return p.head(s.Status, s, -1)
	}
	return p.whole(s, body)
}

// wholeReply gives the body that a reply brings along and the content type that goes with it.
func (p *player) wholeReply(s Step) (body []byte, contentType string, whole bool) {
	switch {
	case s.Do == "fail":
		f := p.writer.failure(p.q.fillStep(s))
		return f.body, "application/json", true
	case s.Do == "html":
		return htmlPage(s.Status), "text/html; charset=utf-8", true
	case s.JSON != nil:
		if p.verbatim {
			return s.JSON, "application/json", true
		}
		return []byte(p.q.fill(string(s.JSON))), "application/json", true
	case s.Body != nil:
		return []byte(p.q.fill(*s.Body)), "text/plain; charset=utf-8", true
	case s.Status == 0 || s.Status/100 == 2:
		return nil, "text/event-stream; charset=utf-8", false
	}
	return nil, "", false
}

// whole writes a complete answer with its length.
func (p *player) whole(s Step, body []byte) error {
	if p.w.zipped {
		body = gzipped(body)
	}
	if err := p.head(s.Status, s, len(body)); err != nil {
		return err
	}
	return p.w.write(body)
}

// head writes the head; headers of the step replace ours, empty ones take them away.
func (p *player) head(status int, s Step, length int) error {
	h := http.Header{}
	if s.Type != "" {
		h.Set("Content-Type", s.Type)
	}
	name := "X-Request-Id"
	if p.q.surface == surfaceMessages || p.q.surface == surfaceCountTokens {
		name = "Request-Id"
	}
	h.Set(name, p.requestID)
	if s.RetryAfter != "" {
		h.Set("Retry-After", s.RetryAfter)
	}
	for k, v := range s.Headers {
		h.Del(k)
		if v != "" {
			h.Set(k, p.q.fill(v))
		}
	}
	if strings.EqualFold(h.Get("Connection"), "close") {
		p.w.closing = true
	}
	if p.w.zipped && length < 0 {
		p.w.startGzip()
	}
	return p.w.writeHead(status, h, length)
}
