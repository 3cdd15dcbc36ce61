package chat

import "rubicon/internal/wire/translate"

// mark writes a cache point, in OpenAI's way.
func (e *encoder) mark(b *translate.Block) {
	if b.Cache == nil {
		return
	}
	e.w.object("prompt_cache_breakpoint")
	e.w.text("mode", "explicit")
	if ttl := translate.OpenAILifetime(b.Cache, e.rep); ttl != "" {
		e.w.text("ttl", ttl)
	}
	e.w.shut('}')
}
