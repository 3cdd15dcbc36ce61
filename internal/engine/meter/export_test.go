package meter

import "context"

// Note notes progress at once, as Run does with every tick.
func Note(b *Books, ctx context.Context) { b.note(ctx) }

// Doubt queues what an opening does whose COMMIT was not answered.
func Doubt(b *Books, c Closing) { b.keep(entry{Closing: c, Void: true}) }

// Later queues an end.
func Later(b *Books, c Closing) error { return b.later(entry{Closing: c}, nil) }
