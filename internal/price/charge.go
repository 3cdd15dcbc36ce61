package price

import "rubicon/internal/money"

// Charge prices a usage; the tier is the one that the answer reported.
func (l List) Charge(u Usage) (Quote, error) { panic("not yet") }

// Hold is the amount to reserve before the first attempt.
func (l List) Hold(h HoldInput) (money.Nano, error) { panic("not yet") }

// TierKnown tells whether a requested tier has a factor or needs none.
func (l List) TierKnown(tier string) bool { panic("not yet") }

// Version is a short stable name of the list's content; charges record it.
func (l List) Version() string { panic("not yet") }

// EstimateInput is ⌈bytes ÷ 3⌉ + 1,500 per attachment.
func EstimateInput(bodyBytes int64, attachments int) int64 { panic("not yet") }

// Normalize clamps cached tokens to the input total; anomaly tells that a
// value is negative or above 2³¹ and that the usage must not be charged.
func Normalize(u Usage) (normal Usage, anomaly bool) { panic("not yet") }

// Disjoint makes a usage of a provider's numbers whose total includes the
// cached and written tokens (Responses, Chat Completions).
func Disjoint(inputTotal, cached, written, output int64) Usage { panic("not yet") }
