package meter

import "context"

// Note notes progress at once, as Run does with every tick.
func Note(b *Bookkeeper, ctx context.Context) { b.writeProgress(ctx) }

// MakeUncertain queues what an opening does whose COMMIT was not answered.
func MakeUncertain(b *Bookkeeper, c RequestEnd) { b.keep(queuedEnd{Closing: c, HoldUncertain: true}) }

// Later queues an end.
func Later(b *Bookkeeper, c RequestEnd) error { return b.enqueue(queuedEnd{Closing: c}, nil) }
