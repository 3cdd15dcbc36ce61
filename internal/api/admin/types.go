package admin

import (
	"time"

	"rubicon/internal/books/account"
	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/money"
)

// Action is what an operator does to a channel or credential.
type Action string

// The actions.
const (
	ActionPause   Action = "pause"   // a channel gets no traffic
	ActionResume  Action = "resume"  // ends a pause of the channel
	ActionEnable  Action = "enable"  // ends a credential's pause or disabling; a cooldown ends by itself
	ActionDisable Action = "disable" // a credential gets no traffic
	ActionWeight  Action = "weight"  // sets the weight of the channel for one public model
)

// DefaultWeight takes an operator's weight back: that of the configuration
// counts again.
const DefaultWeight = -1

// Override is an operator's change, kept over restarts.
type Override struct {
	Action      Action
	Channel     string
	Credential  string // of enable and disable
	PublicModel string // of weight
	Weight      int    // of weight; 0 or more, or DefaultWeight
	Reason      string // may be ""
	Actor       string // never ""
}

// Channel is how a channel stands for one public model.
type Channel struct {
	Channel             string       `json:"channel"`
	PublicModel         string       `json:"public_model"`
	State               string       `json:"state"` // closed, open, half_open, cooling, paused or no_credential
	Reason              string       `json:"reason"`
	Since               *time.Time   `json:"since"`
	Until               *time.Time   `json:"until"`
	Weight              float64      `json:"weight"`
	EffectiveWeight     float64      `json:"effective_weight"`
	ConsecutiveFailures int          `json:"consecutive_failures"`
	Credentials         []Credential `json:"credentials"`
}

// Credential is how one key of a channel stands.
type Credential struct {
	Name   string     `json:"name"`
	State  string     `json:"state"` // active, cooling, paused or disabled
	Reason string     `json:"reason"`
	Until  *time.Time `json:"until"`
}

// Alert is something an operator should know.
type Alert struct {
	At         time.Time `json:"at"`
	Kind       string    `json:"kind"`
	Channel    string    `json:"channel"`
	Credential string    `json:"credential,omitempty"`
	Message    string    `json:"message"`
	State      string    `json:"state"`
}

// The bodies that the API takes, besides account.KeySpec and the patches.
type (
	// NewCustomer creates a customer.
	NewCustomer struct {
		Name string `json:"name"`
	}
	// Credit gives credit; Amount is positive, Reason required.
	Credit struct {
		Amount money.Nano `json:"amount"`
		Reason string     `json:"reason"`
	}
	// Adjustment corrects a balance up or down; Reason is required.
	Adjustment struct {
		Amount money.Nano `json:"amount"`
		Reason string     `json:"reason"`
	}
	// Reason says why. It is required for a reversal.
	Reason struct {
		Reason string `json:"reason"`
	}
	// Weight sets a channel's weight for one public model.
	Weight struct {
		PublicModel string `json:"public_model"`
		Weight      *int   `json:"weight"` // required; a pointer tells 0 from absent
		Reason      string `json:"reason,omitempty"`
	}
)

// The answers that are not a type of another package.
type (
	// NewKey is a created key; the secret is shown this once.
	NewKey struct {
		ID       string   `json:"id"`
		Key      string   `json:"key"`
		Warnings []string `json:"warnings,omitempty"` // what is probably not meant
	}
	// ChangedKey is a key after a change.
	ChangedKey struct {
		account.Key
		Warnings []string `json:"warnings,omitempty"`
	}
	// Balance is what a customer can spend and what is reserved.
	Balance struct {
		Available money.Nano `json:"available"`
		Held      money.Nano `json:"held"`
		Currency  string     `json:"currency"`
	}
	// Done answers a change that has nothing else to show.
	Done struct {
		OK bool `json:"ok"`
	}
	// CustomerList is a page of customers, oldest first.
	CustomerList struct {
		Customers []account.Customer `json:"customers"`
		Next      string             `json:"next"`
	}
	// KeyList is all keys of a customer.
	KeyList struct {
		Keys []account.Key `json:"keys"`
	}
	// TransactionList is a page of transactions, newest first.
	TransactionList struct {
		Transactions []ledger.Transaction `json:"transactions"`
		Next         string               `json:"next"`
	}
	// ChannelList is all channels.
	ChannelList struct {
		Channels []Channel `json:"channels"`
	}
	// RequestList is a page of records, newest first.
	RequestList struct {
		Requests []journal.Record `json:"requests"`
		Next     string           `json:"next"`
	}
	// AlertList is a page of alerts, newest first.
	AlertList struct {
		Alerts []Alert `json:"alerts"`
		Next   string  `json:"next"`
	}
)
