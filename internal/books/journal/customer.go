package journal

import (
	"cmp"
	"encoding/json"
	"slices"
)

// ForCustomer is the part of the record that its customer may read: no
// credential, no cost, no upstream request id, and channels under the name
// that alias gives them. The record itself stays as it is.
func (r Record) ForCustomer(alias func(channel string) string) Record {
	// "" is a decision that found no channel, not a channel without a name.
	rename := func(channel string) string {
		if channel == "" {
			return ""
		}
		return alias(channel)
	}
	r.Attempts = slices.Clone(r.Attempts)
	for i := range r.Attempts {
		a := &r.Attempts[i]
		a.Channel = rename(a.Channel)
		a.Credential, a.Cost, a.UpstreamRequestID = "", 0, ""
		a.ForCustomer = true
	}
	r.Decisions = slices.Clone(r.Decisions)
	for i := range r.Decisions {
		d := &r.Decisions[i]
		d.Chosen = rename(d.Chosen)
		d.Candidates = slices.Clone(d.Candidates)
		for k := range d.Candidates {
			d.Candidates[k].Channel = rename(d.Candidates[k].Channel)
		}
	}
	r.Node, r.Billing = "", nil
	return r
}

// attemptJSON is an Attempt without its methods.
type attemptJSON Attempt

// MarshalJSON leaves out what is the operator's, if the attempt was made for
// a customer: absent, not empty.
func (a Attempt) MarshalJSON() ([]byte, error) {
	if !a.ForCustomer {
		return json.Marshal(attemptJSON(a))
	}
	// The shallower field of a name wins, and a nil one is left out.
	return json.Marshal(struct {
		attemptJSON
		Credential        *struct{} `json:"credential,omitempty"`
		Cost              *struct{} `json:"cost,omitempty"`
		UpstreamRequestID *struct{} `json:"upstream_request_id,omitempty"`
	}{attemptJSON: attemptJSON(a)})
}

// MarshalJSON writes empty lists and objects where the interface promises
// them, instead of null.
func (r Record) MarshalJSON() ([]byte, error) {
	type plain Record
	return json.Marshal(plain(r.normal()))
}

// normal is the record as it is shown and stored: no nil lists, times in UTC
// with milliseconds.
func (r Record) normal() Record {
	if r.Usage.Tools == nil {
		r.Usage.Tools = map[string]int64{}
	}
	if r.Usage.Flags == nil {
		r.Usage.Flags = []string{}
	}
	r.Usage.Source = cmp.Or(r.Usage.Source, SourceNone)
	r.StartedAt, r.FinishedAt = milliseconds(r.StartedAt), milliseconds(r.FinishedAt)
	r.Attempts = slices.Clone(r.Attempts)
	if r.Attempts == nil {
		r.Attempts = []Attempt{}
	}
	for i := range r.Attempts {
		r.Attempts[i].StartedAt = milliseconds(r.Attempts[i].StartedAt)
	}
	r.Decisions = slices.Clone(r.Decisions)
	if r.Decisions == nil {
		r.Decisions = []Decision{}
	}
	for i := range r.Decisions {
		if r.Decisions[i].Candidates == nil {
			r.Decisions[i].Candidates = []Candidate{}
		}
	}
	return r
}
