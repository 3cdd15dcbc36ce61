package app

import (
	"context"
	"time"

	"rubicon/internal/books/versions"
	"rubicon/internal/config"
	"rubicon/internal/money/price"
)

// openPrices writes the price lists of the configuration down, before anything
// is charged by them.
func (a *App) openPrices(ctx context.Context) error {
	a.prices = versions.New(a.db, time.Now)
	return a.prices.Note(ctx, pricesOf(a.Config()))
}

// priceListTimeout bounds how long a reload waits for the database.
const priceListTimeout = 10 * time.Second

// notePrices is the same for a new configuration, before it is in force.
func (a *App) notePrices(cfg *config.Config) error {
	ctx, done := context.WithTimeout(context.Background(), priceListTimeout)
	defer done()
	return a.prices.Note(ctx, pricesOf(cfg))
}

func pricesOf(cfg *config.Config) []price.List {
	lists := make([]price.List, len(cfg.Models))
	for i := range cfg.Models {
		lists[i] = cfg.Models[i].Price
	}
	return lists
}
