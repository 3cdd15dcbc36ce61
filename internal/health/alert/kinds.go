package alert

import (
	"fmt"
	"time"
)

// kind is what is known of one kind of alert.
type kind struct {
	ends  Kind          // this tells the end of such an alert
	lasts time.Duration // such an alert has no end of its own: it is over after this, and told again if it goes on
	say   func(Event) string
}

// onceAnHour is enough for what has no end of its own: every request may find a
// channel unfit, or report a usage that cannot be.
const onceAnHour = time.Hour

// kinds is every kind of alert. It is never written to.
var kinds = map[Kind]kind{
	CredentialDisabled: {say: func(e Event) string { return credential(e) + " is disabled" + because(e) }},
	CredentialEnabled:  {ends: CredentialDisabled, say: func(e Event) string { return credential(e) + " is in use again" + because(e) }},
	CredentialPaused: {say: func(e Event) string {
		return credential(e) + " is paused" + until(e) + ": the upstream account is out of balance"
	}},
	CredentialResumed: {ends: CredentialPaused, say: func(e Event) string { return credential(e) + " is in use again" + because(e) }},
	ChannelPaused:     {say: func(e Event) string { return channel(e) + " is paused" + until(e) + because(e) }},
	ChannelResumed:    {ends: ChannelPaused, say: func(e Event) string { return channel(e) + " is in use again" + because(e) }},
	BreakerOpened:     {say: func(e Event) string { return channel(e) + " fails: its breaker is open" + because(e) }},
	BreakerClosed:     {ends: BreakerOpened, say: func(e Event) string { return channel(e) + " answers again: its breaker is closed" + because(e) }},
	ChannelUnfit: {lasts: onceAnHour, say: func(e Event) string {
		return channel(e) + " does not serve what the configuration says it does" + because(e)
	}},
	UsageAnomaly: {lasts: onceAnHour, say: func(e Event) string {
		return channel(e) + " reports a usage that cannot be, and an estimate is charged" + because(e)
	}},
	LedgerDifference:   {say: func(e Event) string { return "The ledger does not add up" + because(e) }},
	LedgerAgrees:       {ends: LedgerDifference, say: func(e Event) string { return "The ledger adds up again" + because(e) }},
	SettlementBacklog:  {say: func(e Event) string { return "Settlements wait for the database" + because(e) }},
	SpoolDamaged:       {lasts: onceAnHour, say: func(e Event) string { return "A spool is damaged" + because(e) }},
	SettlementCaughtUp: {ends: SettlementBacklog, say: func(e Event) string { return "No settlement waits any more" + because(e) }},
}

// Known tells whether an event of this kind is an alert.
func Known(k Kind) bool { _, ok := kinds[k]; return ok }

// Begins tells whether such an alert tells the beginning of something.
func Begins(k Kind) bool { rule, ok := kinds[k]; return ok && rule.ends == "" }

// endOf is the kind that tells the end of such an alert.
func endOf(k Kind) (Kind, bool) {
	for end, rule := range kinds {
		if rule.ends == k {
			return end, true
		}
	}
	return "", false
}

func credential(e Event) string {
	if e.Credential == "" {
		return channel(e)
	}
	return fmt.Sprintf("Credential %s of channel %s", e.Credential, e.Channel)
}

func channel(e Event) string {
	if e.Model == "" {
		return "Channel " + e.Channel
	}
	return fmt.Sprintf("Channel %s (model %s)", e.Channel, e.Model)
}

// until says when it ends by itself.
func until(e Event) string {
	if e.Until.IsZero() {
		return ""
	}
	return " until " + e.Until.UTC().Format(time.RFC3339)
}

// because says why and by whom.
func because(e Event) string {
	out := ""
	if e.Reason != "" {
		out = ": " + e.Reason
	}
	if e.Actor != "" {
		out += " (by " + e.Actor + ")"
	}
	return out
}
