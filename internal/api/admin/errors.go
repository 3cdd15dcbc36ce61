package admin

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"rubicon/internal/books/account"
	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/books/versions"
	"rubicon/internal/money"
	"rubicon/internal/store"
	"rubicon/internal/wire/fault"
)

// refusals says what each refusal of the domain is to an operator. What is not
// in it is a fault of the store: the domain packages return nothing else.
func refusals() []struct {
	is error
	as func(error) *fault.Error
} {
	return []struct {
		is error
		as func(error) *fault.Error
	}{
		{account.ErrNotFound, notFound},
		{ledger.ErrNotFound, notFound},
		{journal.ErrNotFound, notFound},
		{versions.ErrNotFound, notFound},
		{ErrUnknown, notFound},
		{account.ErrCursor, noCursor},
		{ledger.ErrCursor, noCursor},
		{journal.ErrCursor, noCursor},
		{account.ErrInvalid, invalid},
		{ledger.ErrInvalid, invalid},
		{money.ErrOverflow, invalid},
		{ErrInvalid, invalid},
		{ledger.ErrIdempotencyConflict, func(err error) *fault.Error {
			return fault.New(fault.IdempotencyConflict, sentence(err))
		}},
		{ledger.ErrNotReversible, conflict},
		{ledger.ErrReversed, conflict},
		{store.ErrConflict, conflict},
		{store.ErrUncertain, uncertain},
	}
}

// asFault is what an operator is told about an error.
func asFault(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	for _, r := range refusals() {
		if errors.Is(err, r.is) {
			return r.as(err)
		}
	}
	return fault.New(fault.StoreUnavailable, "").WithCause(err)
}

func notFound(err error) *fault.Error { return fault.New(fault.NotFound, sentence(err)) }

func invalid(err error) *fault.Error { return fault.New(fault.InvalidRequest, sentence(err)) }

func noCursor(error) *fault.Error {
	return fault.New(fault.InvalidRequest, "cursor must be the next of an earlier page.").WithParam("cursor")
}

// uncertain must not be repeated blindly: without an idempotency key it may be
// done twice.
func uncertain(err error) *fault.Error {
	f := fault.New(fault.InternalError, "The database was lost while this was committed, and it is not known whether it was carried out. Look before you repeat it.")
	f.Retryable = false
	return f.WithCause(err)
}

// conflict and methodNotAllowed are the two failures that only this API has;
// the list of codes (docs/contract.md#s5-codes, the table of package fault) is that
// of the client API.
func conflict(err error) *fault.Error {
	return &fault.Error{Code: "conflict", Status: 409, Type: fault.TypeFor(409), Message: sentence(err)}
}

func methodNotAllowed(method string) *fault.Error {
	return &fault.Error{Code: "method_not_allowed", Status: 405, Type: fault.TypeFor(405),
		Message: fmt.Sprintf("%s is not allowed here; see the allow header.", method)}
}

// sentence shows a refusal of the domain as a message; those are written for
// operators and hold no causes.
func sentence(err error) string {
	text := err.Error()
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:] + "."
}
