package sim

import (
	"encoding/json"
	"sync"
)

// keptResponses bounds what an account remembers: the oldest go first.
const keptResponses = 10_000

// Account is an upstream account: what it remembers of the responses that were made there. Providers with the same one
// share it, as the base URLs of one account do. The zero value is an account without responses.
type Account struct {
	mu        sync.Mutex
	responses map[string]*made // by id; nil: deleted
	order     []string         // of responses
}

// made is a response that was made, and the calls that a continuation of it may answer.
type made struct {
	object object
	calls  map[string]bool
}

// keep remembers a response, whole or as far as it was made, for reading and continuing.
func (a *Account) keep(id string, o object, calls map[string]bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.put(id, &made{o, calls})
}

// remove forgets a response; unlike one that never was, it stays away.
func (a *Account) remove(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.put(id, nil)
}

// put is keep and remove. The caller holds a.mu.
func (a *Account) put(id string, m *made) {
	if a.responses == nil {
		a.responses = map[string]*made{}
	}
	if _, known := a.responses[id]; !known {
		a.order = append(a.order, id)
	}
	a.responses[id] = m
	if len(a.order) > keptResponses {
		delete(a.responses, a.order[0])
		a.order = a.order[1:]
	}
}

func (a *Account) stored(id string) (o object, deleted bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m, known := a.responses[id]
	if m == nil {
		return nil, known
	}
	return m.object, false
}

// parent gives the calls of a response that can be continued: one that was made here and stored.
func (a *Account) parent(id string) (calls map[string]bool, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.responses[id]
	if m == nil || isFalse(m.object.get("store")) {
		return nil, false
	}
	return m.calls, true
}

// reset forgets everything.
func (a *Account) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.responses, a.order = nil, nil
}

// isFalse says whether a member that was echoed, or made up, is false.
func isFalse(v any) bool {
	raw, echoed := v.(json.RawMessage)
	return v == false || echoed && string(raw) == "false"
}
