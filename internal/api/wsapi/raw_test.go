package wsapi_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"rubicon/test/stand"
)

// handshake upgrades a socket by hand; nothing of what follows is read.
func handshake(t *testing.T, c net.Conn, host, key string) {
	t.Helper()
	fmt.Fprintf(c, "GET /v1/responses HTTP/1.1\r\nHost: %s\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nAuthorization: Bearer %s\r\n\r\n", host, key)
	var head []byte
	one := make([]byte, 1)
	for !strings.HasSuffix(string(head), "\r\n\r\n") {
		if _, err := io.ReadFull(c, one); err != nil {
			t.Fatalf("upgrading: %v after %q", err, head)
		}
		head = append(head, one[0])
	}
	resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(string(head))), nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("upgrading: %v %q", err, head)
	}
}

// rawDial opens a socket to a gateway over TCP and upgrades it by hand.
func rawDial(t *testing.T, s *stand.Gateway, who stand.Customer) *net.TCPConn {
	t.Helper()
	host := strings.TrimPrefix(s.URL, "http://")
	c, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	handshake(t, c, host, who.Key)
	return c.(*net.TCPConn)
}

// Opcodes.
const (
	opContinue = 0x0
	opText     = 0x1
	opClose    = 0x8
	opPing     = 0x9
	opPong     = 0xA
)

// frameHead is the head of a masked frame (mask zero) that says it has n bytes.
func frameHead(op byte, fin bool, n int) []byte {
	if fin {
		op |= 0x80
	}
	b := []byte{op}
	switch {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	return append(b, 0, 0, 0, 0)
}

// textFrame is a whole masked text frame.
func textFrame(s string) []byte { return append(frameHead(opText, true, len(s)), s...) }

// readRaw reads one frame of the gateway's.
func readRaw(c net.Conn, within time.Duration) (op byte, payload []byte, err error) {
	if within > 0 {
		_ = c.SetReadDeadline(time.Now().Add(within))
	}
	var head [8]byte
	if _, err := io.ReadFull(c, head[:2]); err != nil {
		return 0, nil, err
	}
	op, n := head[0]&0xF, uint64(head[1]&0x7F)
	switch n {
	case 126:
		if _, err := io.ReadFull(c, head[:2]); err != nil {
			return 0, nil, err
		}
		n = uint64(binary.BigEndian.Uint16(head[:2]))
	case 127:
		if _, err := io.ReadFull(c, head[:8]); err != nil {
			return 0, nil, err
		}
		n = binary.BigEndian.Uint64(head[:8])
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(c, payload)
	return op, payload, err
}

// closeCode is what a close frame says.
func closeCode(payload []byte) int {
	if len(payload) < 2 {
		return 0
	}
	return int(binary.BigEndian.Uint16(payload))
}
