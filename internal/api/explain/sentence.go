package explain

import (
	"fmt"
	"slices"
	"strings"

	"rubicon/internal/books/journal"
)

// Sentence says in one plain sentence how the request ended and who paid.
func Sentence(r journal.Record) string {
	what, pays := endSentence(r)
	if pays == "" {
		return what + "."
	}
	return what + "; " + pays + "."
}

func endSentence(r journal.Record) (what, pays string) {
	switch r.Outcome {
	case journal.OutcomeRunning:
		return running(r), ""
	case journal.OutcomeCompleted:
		return answered(r, ""), paid(r, "for one answer")
	case journal.OutcomeIncomplete:
		return answered(r, ", incomplete"), paid(r, "for one answer")
	case journal.OutcomeFailed:
		return failed(r), paid(r, "for it")
	case journal.OutcomePartial:
		return broken(r), paid(r, "for what was delivered")
	case journal.OutcomeCancelled:
		return clientLeftSentence(r), paid(r, "for what was delivered")
	case journal.OutcomeRejected:
		return "Refused before the first attempt" + code(r), paid(r, "for it")
	}
	return "Ended as " + string(r.Outcome), paid(r, "for it")
}

func running(r journal.Record) string {
	if last, ok := lastAttempt(r); ok {
		return "Still running, on " + last.Channel
	}
	return "Still running"
}

func answered(r journal.Record, how string) string {
	last, ok := lastAttempt(r)
	if !ok {
		// Answered without a provider: a warm-up over WebSocket.
		return "Answered by the gateway itself" + how
	}
	return "Answered by " + last.Channel + how + before(r)
}

// before tells which attempts failed before the last one.
func before(r journal.Record) string {
	names := lostChannels(r)
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" after %s failed before output", list(names))
}

func lostChannels(r journal.Record) []string {
	var names []string
	for _, a := range r.Attempts[:max(len(r.Attempts)-1, 0)] {
		if !slices.Contains(names, a.Channel) {
			names = append(names, a.Channel)
		}
	}
	return names
}

func failed(r journal.Record) string {
	last, ok := lastAttempt(r)
	if !ok {
		return "Failed before the first attempt" + code(r)
	}
	text := fmt.Sprintf("Failed before output on %s (%s)", last.Channel, failureOf(last))
	if names := lostChannels(r); len(names) > 0 {
		text += " after " + list(names) + " had failed too"
	}
	return text + because(last)
}

func broken(r journal.Record) string {
	last, ok := lastAttempt(r)
	if !ok {
		return "Broke off after output" + code(r)
	}
	return fmt.Sprintf("Broke off after output on %s (%s)", last.Channel, failureOf(last)) + before(r) + because(last)
}

func clientLeftSentence(r journal.Record) string {
	when := "before output"
	if r.AfterOutput {
		when = "after output"
	}
	if last, ok := lastAttempt(r); ok {
		return fmt.Sprintf("The client left %s, while %s was answering", when, last.Channel)
	}
	return "The client left " + when
}

// because says why a failure was not repeated.
func because(a journal.Attempt) string {
	if a.Reason == "" || a.Reason == a.Failure {
		return ""
	}
	return ", not repeated because " + Reason(a.Reason)
}

func paid(r journal.Record, forWhat string) string {
	if r.Charge == 0 {
		return "the customer paid nothing"
	}
	if r.Refunded != nil {
		forWhat += " and was given it back"
	}
	return "the customer paid " + forWhat
}

func code(r journal.Record) string {
	if r.Error == nil || r.Error.Code == "" {
		return ""
	}
	return " (" + r.Error.Code + ")"
}

// failureOf names an attempt's failure, with the provider's own code.
func failureOf(a journal.Attempt) string {
	text := Reason(a.Failure)
	if a.Failure == "" {
		text = a.Outcome
	}
	if a.Code != "" && a.Code != a.Failure {
		text += ", " + a.Code
	}
	return text
}

func lastAttempt(r journal.Record) (journal.Attempt, bool) {
	if len(r.Attempts) == 0 {
		return journal.Attempt{}, false
	}
	return r.Attempts[len(r.Attempts)-1], true
}

func list(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
