package meter

import "context"

// Note notes progress at once, as Run does with every tick.
func Note(b *Books, ctx context.Context) { b.note(ctx) }
