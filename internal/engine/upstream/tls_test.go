package upstream_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"rubicon/internal/engine/upstream"
	"rubicon/internal/wire/classify"
)

// trusted is the certificate of the tests' peers. The client trusts it because
// TestMain names it as the system's only one.
var trusted tls.Certificate

func TestMain(m *testing.M) {
	os.Exit(func() int {
		file, err := os.CreateTemp("", "rubicon-*.pem")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.Remove(file.Name()) }()
		trusted = certificate()
		if err := pem.Encode(file, &pem.Block{Type: "CERTIFICATE", Bytes: trusted.Certificate[0]}); err != nil {
			panic(err)
		}
		if err := os.Setenv("SSL_CERT_FILE", file.Name()); err != nil {
			panic(err)
		}
		return m.Run()
	}())
}

func certificate() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "peer"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func listenTLS(t *testing.T, cert tls.Certificate, protocols ...string) net.Listener {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: protocols})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func overTLS(l net.Listener) *upstream.Call {
	c := to("x")
	c.Channel.BaseURL = "https://" + l.Addr().String() + "/v1"
	return c
}

// failingConn fails to write what is longer than a TLS alert once told to.
type failingConn struct {
	net.Conn
	dead *atomic.Bool
}

func (c failingConn) Write(b []byte) (int, error) {
	if c.dead.Load() && len(b) > 24 {
		return 0, io.ErrClosedPipe
	}
	return c.Conn.Write(b)
}

// TestDeadReusedTLS: the alert that a dying TLS connection sends is no part of
// the request.
func TestDeadReusedTLS(t *testing.T) {
	l := listenTLS(t, trusted)
	serve(t, l, says(streamHead+chunk(completed)+lastChunk))
	var dead atomic.Bool
	cl := client(t, func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, address)
		return failingConn{c, &dead}, err
	})
	if got := run(t.Context(), cl, overTLS(l)); got.failed != nil || got.types != "t" {
		t.Fatal(got.failed)
	}
	dead.Store(true)
	got := run(t.Context(), cl, overTLS(l))
	expect(t, got.failed, classify.Connect, false)
}

func TestUntrustedCertificate(t *testing.T) {
	l := listenTLS(t, certificate())
	p := serve(t, l, says(""))
	got := run(t.Context(), client(t, nil), overTLS(l))
	expect(t, got.failed, classify.Connect, false)
	if requests, _ := p.got(); len(requests) != 0 {
		t.Error("a request went to a stranger")
	}
}

func TestHTTP2(t *testing.T) {
	l := listenTLS(t, trusted, "h2")
	var major atomic.Int32
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		major.Store(int32(r.ProtoMajor))
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, created+delta+completed)
	}), TLSConfig: &tls.Config{NextProtos: []string{"h2"}}}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	defer func() { _ = server.Close(); <-served }()
	cl := client(t, nil)
	for range 2 {
		if got := run(t.Context(), cl, overTLS(l)); got.failed != nil || got.types != "lot" {
			t.Errorf("%q, %v", got.types, got.failed)
		}
	}
	if major.Load() != 2 {
		t.Errorf("HTTP/%d was spoken", major.Load())
	}
}

// frame is an HTTP/2 frame.
func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

const (
	frameHeaders, frameReset, frameSettings, frameGoAway = 1, 3, 4, 7
	refused                                              = 7
)

// TestUnprocessed: HTTP/2's promises that a request was not processed.
func TestUnprocessed(t *testing.T) {
	word := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	for _, c := range []struct {
		name     string
		answer   func(c net.Conn, stream uint32)
		want     classify.Failure
		executed bool
	}{
		{"refused stream", func(c net.Conn, id uint32) { _, _ = c.Write(frame(frameReset, 0, id, word(refused))) }, classify.Connect, false},
		{"graceful shutdown", func(c net.Conn, _ uint32) {
			_, _ = c.Write(frame(frameGoAway, 0, 0, append(word(0), word(0)...)))
		}, classify.Connect, false},
		{"shutdown with an error, nothing taken", func(c net.Conn, _ uint32) {
			_, _ = c.Write(frame(frameGoAway, 0, 0, append(word(0), word(2)...)))
		}, classify.Connect, false},
		{"an inner error of the stream", func(c net.Conn, id uint32) { _, _ = c.Write(frame(frameReset, 0, id, word(2))) }, classify.ReadError, true},
		{"the stream was taken, then the connection went", func(c net.Conn, id uint32) {
			_, _ = c.Write(frame(frameGoAway, 0, 0, append(word(id), word(0)...)))
			_ = c.Close()
		}, classify.ReadError, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := listenTLS(t, trusted, "h2")
			var calls atomic.Int32
			accepted := make(chan struct{})
			go func() {
				defer close(accepted)
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					serveHTTP2(conn, func(id uint32) { calls.Add(1); c.answer(conn, id) })
				}
			}()
			defer func() { _ = l.Close(); <-accepted }()
			cl := client(t, nil)
			got := run(t.Context(), cl, overTLS(l))
			expect(t, got.failed, c.want, c.executed)
			cl.Close()
			if n := calls.Load(); n != 1 {
				t.Errorf("the peer saw %d requests", n)
			}
		})
	}
}

// serveHTTP2 reads frames until the connection ends and reports each request.
func serveHTTP2(c net.Conn, request func(stream uint32)) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.ReadFull(c, make([]byte, 24)); err != nil { // the preface
		return
	}
	if _, err := c.Write(frame(frameSettings, 0, 0, nil)); err != nil {
		return
	}
	for {
		head := make([]byte, 9)
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		size := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, c, size); err != nil {
			return
		}
		if head[3] == frameHeaders {
			request(binary.BigEndian.Uint32(head[5:]))
		}
	}
}
