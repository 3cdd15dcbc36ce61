package wsapi

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/coder/websocket"

	"rubicon/internal/api/httpapi"
	"rubicon/internal/api/pressure"
	"rubicon/internal/books/account"
	"rubicon/internal/engine/turn"
	"rubicon/internal/wire/fault"
)

// clientInfo is what the upgrade told about the client.
type clientInfo struct {
	key             string // looked up again for every turn: keys are revoked, customers suspended
	principal       account.Principal
	remote          string      // its address
	header          http.Header // allow-listed for upstream
	clientRequestID string
	session         string
	delivery        string
}

// checkUpgrade decides whether the request may be upgraded.
func (h *Handler) checkUpgrade(r *http.Request) (clientInfo, *fault.Error) {
	p := clientInfo{remote: r.RemoteAddr, header: upstreamHeaders(r.Header), session: httpapi.Session(r.Header),
		clientRequestID: fault.Clip(r.Header.Get("X-Client-Request-Id")), delivery: r.Header.Get(httpapi.DeliveryHeader)}
	var f *fault.Error
	if p.key, p.principal, f = httpapi.Caller(r, h.Accounts); f != nil {
		return p, f
	}
	if !sameOrigin(r, h.Config().WS.Origins) {
		f := fault.New(fault.InvalidRequest, "Pages of this origin may not connect here (option ws.origins).")
		f.Status = http.StatusForbidden
		f.Type = fault.TypeFor(f.Status)
		return p, f
	}
	if f := httpapi.Delivery(p.delivery); f != nil {
		return p, f
	}
	return p, handshake(r)
}

// handshake checks what the library checks too, but answers in our envelope.
// 426 is kept for a gateway without WebSocket: on it clients fall back to HTTP
// for good.
func handshake(r *http.Request) *fault.Error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(r.Header.Get("Sec-Websocket-Key")))
	switch {
	case !r.ProtoAtLeast(1, 1) || r.ProtoMajor != 1:
		return fault.New(fault.InvalidRequest, "A WebSocket is opened over HTTP/1.1 here.")
	case !hasToken(r.Header, "Connection", "upgrade") || !hasToken(r.Header, "Upgrade", "websocket"):
		return fault.New(fault.InvalidRequest, "GET /v1/responses opens a WebSocket; send Connection: Upgrade and Upgrade: websocket, or POST /v1/responses.")
	case r.Header.Get("Sec-Websocket-Version") != "13":
		return fault.New(fault.InvalidRequest, "Only Sec-WebSocket-Version: 13 is spoken here.")
	case err != nil || len(key) != 16 || len(r.Header.Values("Sec-Websocket-Key")) != 1:
		return fault.New(fault.InvalidRequest, "Sec-WebSocket-Key must be 16 bytes in base64.")
	}
	return nil
}

func hasToken(h http.Header, name, token string) bool {
	for _, line := range h.Values(name) {
		if slices.ContainsFunc(strings.Split(line, ","), func(t string) bool { return strings.EqualFold(strings.TrimSpace(t), token) }) {
			return true
		}
	}
	return false
}

// sameOrigin checks the origin that browsers send. The gateway's own host is
// always allowed.
func sameOrigin(r *http.Request, allowed []string) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || httpapi.OriginAllowed(origin, allowed) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// upstreamHeaders picks the headers that may travel upstream. The beta of this transport
// is left out: upstream is spoken to over HTTP.
func upstreamHeaders(h http.Header) http.Header {
	out := httpapi.UpstreamHeaders(h)
	var betas []string
	for _, line := range out.Values("Openai-Beta") {
		for beta := range strings.SplitSeq(line, ",") {
			if beta = strings.TrimSpace(beta); beta != "" && !strings.HasPrefix(beta, "responses_websockets") {
				betas = append(betas, beta)
			}
		}
	}
	out.Del("Openai-Beta")
	if len(betas) > 0 {
		out.Set("Openai-Beta", strings.Join(betas, ","))
	}
	return out
}

// accept switches protocols and starts the connection. On an error the library
// has answered.
func (h *Handler) accept(w http.ResponseWriter, r *http.Request, p clientInfo) error {
	cfg := h.Config()
	taken := &hijacker{ResponseWriter: w}
	c := &conn{Handler: h, peer: p, maxMessage: int(cfg.WS.Message), memory: newMemory()}
	ws, err := websocket.Accept(taken, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // sameOrigin has verified
		// permessage-deflate is declined although clients offer it: with its
		// windows an idle connection costs several times as much, every delta
		// costs a compression, and a small frame expands to megabytes before any
		// limit sees it.
		CompressionMode: websocket.CompressionDisabled,
		OnPingReceived:  func(_ context.Context, payload []byte) bool { c.answerPing(payload); return false },
		OnPongReceived:  func(context.Context, []byte) { c.pulse.ponged.Store(true) },
	})
	if err != nil {
		return err
	}
	ws.SetReadLimit(cfg.WS.Message)
	c.ws, c.wire = ws, taken.wire
	c.wire.limit = cfg.Timers.Write
	ctx, stop := context.WithCancelCause(context.Background())
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.WS.Lifetime, turn.ErrLifetime)
	c.stop = func(cause error) { stop(cause); cancel() }
	h.run(ctx, c)
	return nil
}

// hijacker puts our wire under the library: between it and the socket.
type hijacker struct {
	http.ResponseWriter
	wire *clientSocket
}

// Buffers of a connection. Large payloads pass the first by; frames that fit
// into the second leave in one write.
const (
	readBuffer  = 1 << 10
	writeBuffer = 4 << 10
)

// Hijack implements http.Hijacker.
func (t *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	socket, rw, err := http.NewResponseController(t.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, errors.Join(errors.New("taking the connection over"), err)
	}
	pressure.FixedDeadline(socket) // the wire has a say of its own
	early, _ := rw.Reader.Peek(rw.Reader.Buffered())
	t.wire = &clientSocket{Conn: socket, early: slices.Clone(early)}
	return t.wire, bufio.NewReadWriter(bufio.NewReaderSize(t.wire, readBuffer), bufio.NewWriterSize(t.wire, writeBuffer)), nil
}
