package alert

import (
	"fmt"
	"time"
)

// kind is what is known of one kind of alert.
type kind struct {
	resolves Kind          // this one reports the end of such an alert
	lasts    time.Duration // such an alert has no end of its own: it is over after this, and reported again if it goes on
	message  func(Event) string
}

// onceAnHour is enough for what has no end of its own: every request may find a
// channel unfit, or report a usage that cannot be.
const onceAnHour = time.Hour

// kinds is every kind of alert. It is never written to.
var kinds = map[Kind]kind{
	CredentialDisabled: {message: func(e Event) string { return credential(e) + " is disabled" + because(e) }},
	CredentialEnabled:  {resolves: CredentialDisabled, message: func(e Event) string { return credential(e) + " is in use again" + because(e) }},
	CredentialPaused: {message: func(e Event) string {
		return credential(e) + " is paused" + until(e) + ": the upstream account is out of balance"
	}},
	CredentialResumed: {resolves: CredentialPaused, message: func(e Event) string { return credential(e) + " is in use again" + because(e) }},
	ChannelPaused:     {message: func(e Event) string { return channel(e) + " is paused" + until(e) + because(e) }},
	ChannelResumed:    {resolves: ChannelPaused, message: func(e Event) string { return channel(e) + " is in use again" + because(e) }},
	BreakerOpened:     {message: func(e Event) string { return channel(e) + " fails: its breaker is open" + because(e) }},
	BreakerClosed:     {resolves: BreakerOpened, message: func(e Event) string { return channel(e) + " answers again: its breaker is closed" + because(e) }},
	ChannelUnfit: {lasts: onceAnHour, message: func(e Event) string {
		return channel(e) + " does not serve what the configuration says it does" + because(e)
	}},
	UsageAnomaly: {lasts: onceAnHour, message: func(e Event) string {
		return channel(e) + " reports a usage that cannot be, and an estimate is charged" + because(e)
	}},
	LedgerDifference:   {message: func(e Event) string { return "The ledger does not add up" + because(e) }},
	LedgerAgrees:       {resolves: LedgerDifference, message: func(e Event) string { return "The ledger adds up again" + because(e) }},
	SettlementBacklog:  {message: func(e Event) string { return "Settlements wait for the database" + because(e) }},
	SpoolDamaged:       {lasts: onceAnHour, message: func(e Event) string { return "A spool is damaged" + because(e) }},
	SettlementCaughtUp: {resolves: SettlementBacklog, message: func(e Event) string { return "No settlement waits any more" + because(e) }},
}

// Known reports whether an event of this kind is an alert.
func Known(k Kind) bool { _, ok := kinds[k]; return ok }

// Begins reports whether such an alert reports the beginning of something.
func Begins(k Kind) bool { rule, ok := kinds[k]; return ok && rule.resolves == "" }

// endOf is the kind that reports the end of such an alert.
func endOf(k Kind) (Kind, bool) {
	for end, rule := range kinds {
		if rule.resolves == k {
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
