package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"rubicon/internal/money"
)

// The accounts. Only those of customers have a running balance.
const world = "world"

func availableOf(customer string) string { return "customer:" + customer + ":available" }
func heldOf(customer string) string      { return "customer:" + customer + ":held" }
func revenueOf(model string) string      { return "revenue:" + model }
func upstreamOf(channel string) string   { return "upstream:" + channel }
func costOf(channel string) string       { return "cost:" + channel }
func absorbedOf(channel string) string   { return "absorbed:" + channel }

// customerOf takes the name of a customer's account apart.
func customerOf(account string) (customer, part string, ok bool) {
	rest, ok := strings.CutPrefix(account, "customer:")
	if !ok {
		return "", "", false
	}
	customer, part, ok = strings.Cut(rest, ":")
	return customer, part, ok && customer != "" && (part == "available" || part == "held")
}

// channelOf takes the name of an upstream account apart.
func channelOf(account string) (channel string, ok bool) {
	channel, ok = strings.CutPrefix(account, "upstream:")
	return channel, ok && channel != ""
}

// isAccount reports whether an account may exist.
func isAccount(account string) bool {
	if _, _, ok := customerOf(account); ok || account == world {
		return true
	}
	for _, prefix := range []string{"revenue:", "upstream:", "cost:", "absorbed:"} {
		if name, ok := strings.CutPrefix(account, prefix); ok && name != "" {
			return true
		}
	}
	return false
}

// The postings of each kind, in one place: the functions that write them and
// the verification that recomputes them share nothing else.

func holdPostings(customer string, amount money.Nano) []Posting {
	return []Posting{{availableOf(customer), -amount}, {heldOf(customer), amount}}
}

func releasePostings(customer string, amount money.Nano) []Posting {
	return []Posting{{heldOf(customer), -amount}, {availableOf(customer), amount}}
}

func settlePostings(customer, model string, held, charge money.Nano) []Posting {
	return []Posting{
		{heldOf(customer), -held},
		{revenueOf(model), charge},
		// Below zero when the charge is above the hold.
		{availableOf(customer), held - charge},
	}
}

func costPostings(channel string, amount money.Nano, absorbed bool) []Posting {
	account := costOf(channel)
	if absorbed {
		account = absorbedOf(channel)
	}
	return []Posting{{upstreamOf(channel), -amount}, {account, amount}}
}

func topUpPostings(customer string, amount money.Nano) []Posting {
	return []Posting{{world, -amount}, {availableOf(customer), amount}}
}

func adjustPostings(customer, model string, amount money.Nano) []Posting {
	against := world
	if model != "" {
		against = revenueOf(model)
	}
	return []Posting{{against, -amount}, {availableOf(customer), amount}}
}

// reversePostings undoes a transaction, given what it was. Of a settle only
// the charge comes back: the hold stays resolved.
func reversePostings(kind Kind, customer, model string, amount money.Nano) []Posting {
	switch kind {
	case KindTopUp:
		return topUpPostings(customer, -amount)
	case KindAdjust:
		return adjustPostings(customer, model, -amount)
	case KindSettle:
		return []Posting{{revenueOf(model), -amount}, {availableOf(customer), amount}}
	}
	return nil
}

// maxAmount bounds single amounts at a billion USD: far from where sums of a
// few of them could overflow, so that only running balances need checks.
const maxAmount = money.Nano(1e18)

func checkAmount(what string, amount money.Nano) error {
	if amount < 0 || amount > maxAmount {
		return fmt.Errorf("%w: %s of %s", ErrInvalid, what, amount)
	}
	return nil
}

// checkNames wants every name to be there. It takes pairs of what and name.
func checkNames(pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		what, name := pairs[i], pairs[i+1]
		if name == "" {
			return fmt.Errorf("%w: no %s", ErrInvalid, what)
		}
		// It would make the account's name ambiguous.
		if what == "customer" && strings.Contains(name, ":") {
			return fmt.Errorf("%w: a customer id with a colon", ErrInvalid)
		}
	}
	return nil
}

// checkMeta gives what is stored for meta: a JSON object.
func checkMeta(meta json.RawMessage) (string, error) {
	if len(meta) == 0 {
		return "{}", nil
	}
	if !bytes.HasPrefix(meta, []byte("{")) || !json.Valid(meta) {
		return "", fmt.Errorf("%w: meta is not a JSON object", ErrInvalid)
	}
	return string(meta), nil
}
