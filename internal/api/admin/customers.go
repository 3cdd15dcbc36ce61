package admin

import (
	"fmt"

	"rubicon/internal/books/account"
	"rubicon/internal/wire/fault"
)

func createCustomer(a *api, c *call, in NewCustomer) (account.Customer, error) {
	if err := required("name", in.Name); err != nil {
		return account.Customer{}, err
	}
	return a.Accounts.CreateCustomer(c.ctx(), in.Name)
}

func listCustomers(a *api, c *call) (CustomerList, error) {
	list, next, err := a.Accounts.Customers(c.ctx(), c.query["cursor"], c.limit())
	return CustomerList{orEmpty(list), next}, err
}

func showCustomer(a *api, c *call) (account.Customer, error) {
	return a.Accounts.Customer(c.ctx(), c.id())
}

func patchCustomer(a *api, c *call, in account.CustomerPatch) (account.Customer, error) {
	return a.Accounts.UpdateCustomer(c.ctx(), c.id(), in)
}

func createKey(a *api, c *call, in account.KeySpec) (NewKey, error) {
	if _, err := showCustomer(a, c); err != nil {
		return NewKey{}, err
	}
	made, secret, err := a.Accounts.CreateKey(c.ctx(), c.id(), in)
	return NewKey{ID: made.ID, Key: secret, Warnings: a.doubts(in.Models)}, err
}

// doubts tells which models a key may use that do not exist. They may be meant
// for a configuration to come, so that nothing is refused.
func (a *api) doubts(models []string) (warnings []string) {
	for _, name := range models {
		if a.HasModel != nil && !a.HasModel(name) {
			warnings = append(warnings, fmt.Sprintf("No public model is named %q; the key may use it once there is one.", fault.Clip(name)))
		}
	}
	return warnings
}

func listKeys(a *api, c *call) (KeyList, error) {
	if _, err := showCustomer(a, c); err != nil {
		return KeyList{}, err
	}
	list, err := a.Accounts.Keys(c.ctx(), c.id())
	return KeyList{orEmpty(list)}, err
}

func patchKey(a *api, c *call, in account.KeyPatch) (ChangedKey, error) {
	if in.Revoked != nil && !*in.Revoked {
		return ChangedKey{}, fault.New(fault.InvalidRequest, "A revoked key stays revoked; create a new one.").WithParam("revoked")
	}
	changed, err := a.Accounts.UpdateKey(c.ctx(), c.id(), in)
	out := ChangedKey{Key: changed}
	if in.Models != nil {
		out.Warnings = a.doubts(*in.Models)
	}
	return out, err
}

func revokeKey(a *api, c *call) (account.Key, error) {
	if err := a.Accounts.RevokeKey(c.ctx(), c.id()); err != nil {
		return account.Key{}, err
	}
	return a.Accounts.Key(c.ctx(), c.id())
}

// orEmpty makes an empty list show as [] and not as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
