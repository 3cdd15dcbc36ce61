package account

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const maxName = 200

func checkName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > maxName {
		return "", fmt.Errorf("%w: a name needs 1 to %d bytes", ErrInvalid, maxName)
	}
	return name, nil
}

// clean checks limits and brings them into the form in which they are stored:
// times in UTC with milliseconds, nil for what is no limit.
func (l Limits) clean() (Limits, error) {
	if l.RPM < 0 || l.TPM < 0 || l.Concurrency < 0 {
		return Limits{}, fmt.Errorf("%w: rpm, tpm and concurrency must not be negative", ErrInvalid)
	}
	if slices.Contains(l.Models, "") {
		return Limits{}, fmt.Errorf("%w: models has an empty name", ErrInvalid)
	}
	switch l.Delivery {
	case "", "stream", "atomic":
	default:
		return Limits{}, fmt.Errorf("%w: delivery must be stream or atomic", ErrInvalid)
	}
	if l.Budget != nil && *l.Budget == (Budget{}) {
		l.Budget = nil
	}
	if b := l.Budget; b != nil {
		periods := []string{PeriodDay, PeriodWeek, PeriodMonth, PeriodTotal}
		if b.Amount < 0 || !slices.Contains(periods, b.Period) {
			return Limits{}, fmt.Errorf("%w: a budget needs an amount and a period out of %s", ErrInvalid, strings.Join(periods, ", "))
		}
	}
	if len(l.Models) == 0 {
		l.Models = nil
	}
	if l.ExpiresAt != nil {
		at := l.ExpiresAt.UTC().Truncate(time.Millisecond)
		l.ExpiresAt = &at
		if at.IsZero() {
			l.ExpiresAt = nil
		}
	}
	return l, nil
}

// apply gives the key as the patch would have it.
func (p KeyPatch) apply(k Key) (Key, error) {
	set(&k.Name, p.Name)
	set(&k.Models, p.Models)
	set(&k.RPM, p.RPM)
	set(&k.TPM, p.TPM)
	set(&k.Concurrency, p.Concurrency)
	set(&k.Delivery, p.Delivery)
	if p.Budget != nil {
		k.Budget = p.Budget
		if p.Budget.Period == "" {
			k.Budget = nil
		}
	}
	if p.ExpiresAt != nil {
		k.ExpiresAt = p.ExpiresAt
	}
	if p.Revoked != nil {
		if k.Revoked && !*p.Revoked {
			return Key{}, fmt.Errorf("%w: a revoked key stays revoked", ErrInvalid)
		}
		k.Revoked = *p.Revoked
	}
	var err error
	if k.Name, err = checkName(k.Name); err != nil {
		return Key{}, err
	}
	k.Limits, err = k.Limits.clean()
	return k, err
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}
