package alert

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"rubicon/internal/config"
)

// Headers of a delivery. docs/alerts.md explains how to check them.
const (
	HeaderID        = "Rubicon-Alert-Id"
	HeaderTimestamp = "Rubicon-Timestamp" // seconds since 1970
	HeaderSignature = "Rubicon-Signature" // v1=hex(HMAC-SHA-256(secret, timestamp + "." + body)); absent without a secret
)

// Target is where alerts go. The zero value is nowhere.
type Target struct {
	URL    config.Secret // such URLs often hold a token
	Secret config.Secret
}

func (t Target) set() bool { return !t.URL.Empty() }

// Dial opens a connection; it exists so that tests run over memory.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// webhookTimeout is how long one delivery may take.
const webhookTimeout = 10 * time.Second

type webhook struct{ client *http.Client }

func newWebhook(dial Dial) *webhook {
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	// http.Transport goes on dialling for a request that has ended.
	bounded := func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, done := context.WithTimeout(ctx, webhookTimeout)
		defer done()
		return dial(ctx, network, address)
	}
	return &webhook{&http.Client{
		Timeout:   webhookTimeout,
		Transport: &http.Transport{DialContext: bounded, DisableKeepAlives: true, TLSHandshakeTimeout: webhookTimeout},
		// A redirect would carry the alert to an address that is not configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// body is what is sent.
type body struct {
	ID         string    `json:"id"`
	At         time.Time `json:"at"`
	Kind       Kind      `json:"kind"`
	State      string    `json:"state"`
	Channel    string    `json:"channel"`
	Credential string    `json:"credential,omitempty"`
	Model      string    `json:"upstream_model,omitempty"`
	Message    string    `json:"message"`
}

// send delivers one alert. Its errors name no address.
func (w *webhook) send(ctx context.Context, to Target, a Alert, now time.Time) error {
	raw, err := json.Marshal(body{a.ID, a.At, a.Kind, logged(a.Kind), a.Channel, a.Credential, a.Model, a.Message})
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL.Reveal(), bytes.NewReader(raw))
	if err != nil {
		return errors.New("alerts.webhook is not a usable URL")
	}
	stamp := strconv.FormatInt(now.Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "rubicon")
	req.Header.Set(HeaderID, a.ID)
	req.Header.Set(HeaderTimestamp, stamp)
	if !to.Secret.Empty() {
		req.Header.Set(HeaderSignature, Sign(to.Secret.Reveal(), stamp, raw))
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return withoutAddress(err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the receiver answered %d", resp.StatusCode)
	}
	return nil
}

// logged is the state that an alert of this kind began with: retries send the
// same, whatever happened since.
func logged(k Kind) string {
	if kinds[k].resolves != "" {
		return Resolved
	}
	return Firing
}

// Sign is the value of HeaderSignature.
func Sign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp))
	mac.Write([]byte("."))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// withoutAddress says what went wrong without the words of the network, which hold
// the address.
func withoutAddress(err error) error {
	var timeout interface{ Timeout() bool }
	var dns *net.DNSError
	var dial *net.OpError
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("the receiver did not answer in time")
	case errors.As(err, &dns):
		return errors.New("the receiver's name was not found")
	case errors.As(err, &dial) && dial.Op == "dial":
		return errors.New("the receiver could not be reached")
	}
	return errors.New("the connection to the receiver failed")
}
