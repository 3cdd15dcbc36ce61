package journal

import (
	"encoding/json"
	"fmt"
	"time"
)

// body is what of a record has no column.
type body struct {
	Stream        bool             `json:"stream,omitempty"`
	UpstreamModel string           `json:"upstream_model,omitempty"`
	Error         *Error           `json:"error,omitempty"`
	AfterOutput   bool             `json:"after_output,omitempty"`
	Tools         map[string]int64 `json:"tools,omitempty"`
	Flags         []string         `json:"flags,omitempty"`
	Lines         []Line           `json:"lines,omitempty"`
	PriceVersion  string           `json:"price_version,omitempty"`
	Times         Times            `json:"times_ms,omitzero"`
	Delivered     Delivered        `json:"delivered,omitzero"`
	Attempts      []attemptJSON    `json:"attempts,omitempty"`
	Decisions     []Decision       `json:"decisions,omitempty"`
	Notes         []string         `json:"notes,omitempty"`
}

func encodeBody(r Record) (string, error) {
	b := body{
		Stream: r.Stream, UpstreamModel: r.UpstreamModel, Error: r.Error, AfterOutput: r.AfterOutput,
		Tools: r.Usage.Tools, Flags: r.Usage.Flags, Lines: r.Lines, PriceVersion: r.PriceVersion,
		Times: r.Times, Delivered: r.Delivered, Decisions: r.Decisions, Notes: r.Notes,
	}
	for _, a := range r.Attempts {
		a.StartedAt = milliseconds(a.StartedAt)
		b.Attempts = append(b.Attempts, attemptJSON(a))
	}
	text, err := json.Marshal(b)
	if err != nil {
		return "", fmt.Errorf("encoding the record of %s: %w", r.RequestID, err)
	}
	return string(text), nil
}

func decodeBody(text string, r *Record) error {
	var b body
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return fmt.Errorf("reading the record of %s: %w", r.RequestID, err)
	}
	r.Stream, r.UpstreamModel, r.Error, r.AfterOutput = b.Stream, b.UpstreamModel, b.Error, b.AfterOutput
	r.Usage.Tools, r.Usage.Flags, r.Lines, r.PriceVersion = b.Tools, b.Flags, b.Lines, b.PriceVersion
	r.Times, r.Delivered, r.Decisions, r.Notes = b.Times, b.Delivered, b.Decisions, b.Notes
	for _, a := range b.Attempts {
		r.Attempts = append(r.Attempts, Attempt(a))
	}
	*r = r.normal()
	return nil
}

// Times are stored as Unix milliseconds, 0 for none.

func milliseconds(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

func toMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
