package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"rubicon/internal/config"
)

// adminFlags say where the admin API is and who is at work.
type adminFlags struct {
	AdminURL string `name:"admin-url" env:"RUBICON_ADMIN_URL" placeholder:"URL" help:"Admin API; else that of the configuration file, else http://127.0.0.1:8081. The token comes from RUBICON_ADMIN_TOKEN or the file."`
	Config   string `short:"c" placeholder:"FILE" help:"Configuration file to take the admin API's address and token from. Without it ./rubicon.yaml, if there is one."`
	Actor    string `env:"RUBICON_ACTOR,USER" placeholder:"NAME" help:"Who is at work, for the ledger and the log."`
}

const (
	defaultAdminURL = "http://127.0.0.1:8081"
	adminTimeout    = time.Minute // verify reads the whole ledger
	maxAnswer       = 64 << 20    // bytes
)

// client talks to the admin API.
type client struct {
	base, token, actor string
	http               *http.Client
}

// client finds address and token: flag and environment first, then the file.
func (f adminFlags) client(sh *shell) (*client, error) {
	token, _ := sh.env("RUBICON_ADMIN_TOKEN")
	base := f.AdminURL
	if token == "" || base == "" {
		cfg, err := f.file(sh)
		switch {
		case err != nil && token == "":
			return nil, fmt.Errorf("no admin token: set RUBICON_ADMIN_TOKEN (%w)", err)
		case err != nil && f.Config != "":
			return nil, err
		case err == nil && token == "":
			token = cfg.Admin.Token.Reveal()
		}
		if err == nil && base == "" {
			base = "http://" + reachable(cfg.Admin.Listen)
		}
	}
	if base == "" {
		base = defaultAdminURL
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usagef("--admin-url must be like %s", defaultAdminURL)
	}
	return &client{
		base: strings.TrimRight(base, "/"), token: token, actor: f.Actor,
		// Redirects are not followed: they would carry the token elsewhere.
		http: &http.Client{Timeout: adminTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// file reads the configuration.
func (f adminFlags) file(sh *shell) (*config.Config, error) {
	return configFlag{Config: f.Config}.load(sh)
}

// reachable turns an address to listen on into one to connect to.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// unreachable says that nobody answered, as opposed to a refusal.
type unreachable struct {
	base  string
	cause error
}

func (e *unreachable) Error() string {
	return fmt.Sprintf("cannot reach the admin API at %s (%v); start it with `rubicon serve`, or name it with --admin-url", e.base, e.cause)
}

// refusal is an error of the admin API.
type refusal struct {
	Status    int
	Code      string `json:"code"`
	Message   string `json:"message"`
	RequestID string `json:"request_id"`
}

func (e *refusal) Error() string {
	if e.Status == http.StatusUnauthorized {
		return "the admin API refused the token; set RUBICON_ADMIN_TOKEN to that of the running gateway"
	}
	text := strings.TrimSuffix(e.Message, ".")
	if e.Code == "" {
		return text
	}
	return fmt.Sprintf("%s (%s, request %s)", text, e.Code, e.RequestID)
}

// call is one call of the admin API: the path's segments, escaped by at.
type call struct {
	method, path string
	query        url.Values
	in           any // nil: no body
	idempotency  string
}

// at joins path segments, which may be any text.
func at(segments ...string) string {
	path := "/admin/v1"
	for _, s := range segments {
		path += "/" + url.PathEscape(s)
	}
	return path
}

// do makes a call and decodes the answer into out (nil: not needed).
func (c *client) do(ctx context.Context, what call, out any) error {
	req, err := c.request(ctx, what)
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		return &unreachable{c.base, plainText(err)}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("the answer of the admin API broke off: %w", err)
	}
	if res.StatusCode/100 != 2 {
		return refused(res.StatusCode, body)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("the answer of %s is not that of a Rubicon admin API; check --admin-url", c.base)
	}
	return nil
}

func (c *client) request(ctx context.Context, what call) (*http.Request, error) {
	target := c.base + what.path
	if len(what.query) > 0 {
		target += "?" + what.query.Encode()
	}
	var body io.Reader
	if what.in != nil {
		encoded, err := json.Marshal(what.in)
		if err != nil {
			return nil, fmt.Errorf("encoding the request: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, what.method, target, body)
	if err != nil {
		return nil, fmt.Errorf("calling the admin API: %w", err)
	}
	req.Header.Set("authorization", "Bearer "+c.token)
	req.Header.Set("content-type", "application/json")
	for name, value := range map[string]string{"rubicon-actor": c.actor, "idempotency-key": what.idempotency} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	return req, nil
}

func refused(status int, body []byte) error {
	envelope := struct{ Error refusal }{}
	if json.Unmarshal(body, &envelope) != nil || envelope.Error.Message == "" {
		return &refusal{Status: status, Message: fmt.Sprintf("the admin API answered with status %d; check --admin-url", status)}
	}
	envelope.Error.Status = status
	return &envelope.Error
}

// plainText is the innermost cause: the wrapping ones repeat the URL.
func plainText(err error) error {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return os.ErrDeadlineExceeded
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
