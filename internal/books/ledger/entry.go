package ledger

import (
	"encoding/json"
	"time"

	"rubicon/internal/money"
	"rubicon/internal/store"
)

// entry is a transaction to be written.
type entry struct {
	kind              Kind
	request, customer string
	amount            money.Nano // what it is about; see the table's comment
	model             string
	attempt           int
	rawMeta           json.RawMessage
	postings          []Posting
	entryExtras
}

// entryExtras is what most entries do not have.
type entryExtras struct {
	reason, actor   string
	reverses        string
	idempotencyKey  string
	idempotencyBody string
}

// post checks an entry and writes it, balances included. An error means that
// nothing was written.
func (l *Ledger) post(tx *store.Tx, e entry) (Transaction, error) {
	meta, err := checkMeta(e.rawMeta)
	if err != nil {
		return Transaction{}, err
	}
	if err := balanced(e.postings); err != nil {
		return Transaction{}, err
	}
	// A cost names a customer only to be found again.
	if change := changeOf(e.customer, e.postings); e.kind != KindCost {
		balance, err := pendingOf(tx).balance(tx, e.customer)
		if err != nil {
			return Transaction{}, err
		}
		if err := balance.move(change); err != nil {
			return Transaction{}, err
		}
	}
	id, at := l.ids.ID("tx"), l.now().UTC().Truncate(time.Millisecond)
	row := []any{id, string(e.kind), e.request, e.customer, at.UnixMilli(), int64(e.amount), e.model, e.attempt, meta}
	if s := e.entryExtras; s == (entryExtras{}) {
		tx.Insert(insertForRequest, row...)
	} else {
		tx.Insert(insertTransaction, append(row, s.reason, s.actor, s.reverses, s.idempotencyKey, s.idempotencyBody)...)
	}
	for n, p := range e.postings {
		tx.Insert(insertPosting, id, n, p.Account, int64(p.Amount))
	}
	return Transaction{
		ID: id, Kind: e.kind, RequestID: e.request, Customer: e.customer, At: at, Postings: e.postings,
		Meta: json.RawMessage(meta), Reason: e.reason, Actor: e.actor, Reverses: e.reverses, Attempt: e.attempt,
	}, nil
}
