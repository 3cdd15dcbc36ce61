package translate

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// maxCallID is how long a call's id may be, by format.
var maxCallID = map[Format]int{Responses: 64, Chat: 40, Messages: 128}

// CallID is a call's id as a format allows it: itself where it is legal, else
// its hash. It is a function of the id alone, so that a call and its result
// agree on every turn and on every node. A cut id would collide.
func CallID(to Format, id string) string {
	if LegalCallID(to, id) {
		return id
	}
	return "call_" + digest(24, id)
}

// LegalCallID tells whether a format allows an id.
func LegalCallID(to Format, id string) bool {
	if id == "" || len(id) > maxCallID[to] {
		return false
	}
	return to != Messages || wordly(id)
}

// CallIDs gives the calls of one conversation ids that are legal and that no
// earlier call has: some servers count anew in each answer, and some formats want
// ids to differ throughout. Calls and results are given in the order in which
// they are written.
type CallIDs struct {
	to    Format
	given map[string]int    // by legal id: how often it was given
	now   map[string]string // by the client's id: that of its latest call
}

// NewCallIDs gives ids for a format.
func NewCallIDs(to Format) *CallIDs {
	return &CallIDs{to: to, given: map[string]int{}, now: map[string]string{}}
}

// Call is the id of the next call.
func (c *CallIDs) Call(id string) string {
	legal := CallID(c.to, id)
	n := c.given[legal]
	c.given[legal]++
	if n > 0 {
		legal = MadeCallID(id, n)
	}
	c.now[id] = legal
	return legal
}

// Result is the id of the call that a result belongs to.
func (c *CallIDs) Result(id string) string { return c.now[id] }

// MadeCallID is the id of a call for which upstream gave none.
func MadeCallID(responseID string, index int) string {
	return "call_" + digest(24, responseID, strconv.Itoa(index))
}

// HashUser stands for an end user's id at another vendor: ids of users and
// sessions are not forwarded across vendors as they are.
func HashUser(id string) string { return "user_" + digest(32, id) }

// digest is the beginning of a hash over parts, in hexadecimal digits.
func digest(digits int, parts ...string) string {
	h := sha256.New()
	for i, p := range parts {
		if i > 0 {
			h.Write([]byte{0})
		}
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))[:digits]
}

// wordly tells whether s has letters, digits, underscores and hyphens only.
func wordly(s string) bool {
	for i := range len(s) {
		if !wordByte(s[i]) {
			return false
		}
	}
	return true
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
