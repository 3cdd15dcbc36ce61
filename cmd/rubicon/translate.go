package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"rubicon/internal/wire/terminal"
	"rubicon/internal/wire/translate"
	"rubicon/internal/wire/translate/formats"
)

type translateCmd struct {
	From  string `required:"" enum:"responses,chat,messages" placeholder:"FORMAT" help:"The format of the body on standard input: responses, chat or messages."`
	To    string `required:"" enum:"responses,chat,messages" placeholder:"FORMAT" help:"The format to translate it to."`
	Model string `placeholder:"NAME" help:"The upstream model. Without it, the model that the body names."`
	JSON  bool   `name:"json" help:"Print body, notes and exclusions as one JSON object."`
}

// translated is what `rubicon translate --json` prints.
type translated struct {
	From     translate.Format      `json:"from"`
	To       translate.Format      `json:"to"`
	Header   string                `json:"header,omitempty"` // as an answer would carry it
	Body     json.RawMessage       `json:"body,omitempty"`
	Notes    []translate.Note      `json:"notes"`
	Excluded []translate.Exclusion `json:"excluded"`
}

// largestBody bounds what is read from standard input.
const largestBody = 64 << 20

// Run translates one body. It opens no connection and reads no configuration:
// the flags are those of the format's usual model. To its own format a body stays
// byte for byte, as on the way through the gateway.
func (c *translateCmd) Run(sh *shell) error {
	body, err := io.ReadAll(io.LimitReader(sh.in, largestBody+1))
	if err != nil {
		return fmt.Errorf("reading the body from standard input: %w", err)
	}
	if len(body) > largestBody {
		return fmt.Errorf("the body is larger than %d MiB", largestBody>>20)
	}
	if !json.Valid(body) {
		return fmt.Errorf("standard input holds no valid JSON; give the body of a request, like: rubicon translate --from %s --to %s < body.json", c.From, c.To)
	}
	out := translated{From: translate.Format(c.From), To: translate.Format(c.To), Notes: []translate.Note{}, Excluded: []translate.Exclusion{}}
	if out.From == out.To {
		out.Body = bytes.TrimSpace(body)
		return c.show(sh, out)
	}
	result, report, err := formats.Request(out.From, out.To, body, c.Model, translate.Defaults(out.To))
	if err != nil {
		return err
	}
	out.Body, out.Notes, out.Excluded = result, append(out.Notes, report.Notes...), append(out.Excluded, report.Excluded...)
	if len(out.Excluded) == 0 {
		out.Header = report.Header(out.From, out.To)
	}
	if err := c.show(sh, out); err != nil {
		return err
	}
	if n := len(out.Excluded); n > 0 {
		return fmt.Errorf("this request has no place in %s: %d of its features, see above", out.To, n)
	}
	return nil
}

// show prints the body, or what excludes it, on standard output. The notes go to
// standard error, so that the body can be piped on.
func (c *translateCmd) show(sh *shell, t translated) error {
	if c.JSON {
		e := json.NewEncoder(sh.out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(t)
	}
	for _, x := range t.Excluded {
		if _, err := fmt.Fprintln(sh.out, terminal.Clean(fmt.Sprintf("excluded %s: %s; %s", x.Path, x.Why, x.Do))); err != nil {
			return err
		}
	}
	if len(t.Excluded) > 0 {
		return nil
	}
	for _, n := range t.Notes {
		if _, err := fmt.Fprintln(sh.err, terminal.Clean(noteLine(n))); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(sh.out, "%s\n", t.Body)
	return err
}

// noteLine is a note in one line: the verb, the place, the value before and
// after, and the reason.
func noteLine(n translate.Note) string {
	line := fmt.Sprintf("%s %s", n.Verb, n.Path)
	if n.Was != "" {
		line += " " + n.Was
	}
	if n.Is != "" {
		line += " → " + n.Is
	}
	return fmt.Sprintf("%s: %s (%s)", line, n.Why, n.Class)
}
