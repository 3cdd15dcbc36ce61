package admin

import (
	"time"

	"rubicon/internal/api/report"
	"rubicon/internal/books/versions"
	"rubicon/internal/wire/fault"
)

// PriceLists is the newest price lists that were ever in force.
type PriceLists struct {
	Prices []versions.PriceList `json:"prices"`
}

func monthly(a *api, c *call) (report.Statement, error) {
	month, err := time.Parse(report.Layout, c.query["month"])
	if err != nil {
		return report.Statement{}, fault.New(fault.InvalidRequest, "month is required.").WithParam("month")
	}
	return report.Month(c.ctx(), a.Ledger, month)
}

func checkMonth(v string) string {
	if _, err := time.Parse(report.Layout, v); err != nil {
		return "must be a month like 2026-01"
	}
	return ""
}

func listPrices(a *api, c *call) (PriceLists, error) {
	if a.Prices == nil {
		return PriceLists{[]versions.PriceList{}}, nil
	}
	list, err := a.Prices.List(c.ctx(), c.limit())
	return PriceLists{orEmpty(list)}, err
}

func showPrices(a *api, c *call) (versions.PriceList, error) {
	if a.Prices == nil {
		return versions.PriceList{}, versions.ErrNotFound
	}
	return a.Prices.Get(c.ctx(), c.id())
}
