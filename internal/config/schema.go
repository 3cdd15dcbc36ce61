package config

import (
	"math"
	"time"

	"rubicon/internal/money"
	"rubicon/internal/money/price"
)

// root is the schema of the top level. Models come last, because they start
// from the global timers and delivery.
func (d *decoder) root(c *Config) []field {
	var firstEventSet bool
	return []field{
		{"listen", d.text(&c.Listen)},
		{"tls", d.group(field{"cert", d.text(&c.TLS.Cert)}, field{"key", d.text(&c.TLS.Key)})},
		{"admin", d.group(
			field{"listen", d.text(&c.Admin.Listen)},
			field{"token", d.secret(&c.Admin.Token)},
			field{"profiling", d.boolean(&c.Admin.Profiling)},
		)},
		{"store", d.group(
			field{"url", d.secret(&c.Store.URL)},
			field{"sync", d.oneOf(&c.Store.Sync, SyncProcess, SyncFull)},
			field{"lease", d.duration(&c.Store.Lease)},
			field{"spool", d.text(&c.Store.Spool)},
			field{"wait", d.duration(&c.Store.Wait)},
		)},
		{"limits", d.group(d.limits(&c.Limits)...)},
		{"cors", d.group(field{"origins", d.origins(&c.CORS.Origins)})},
		{"ws", d.group(d.ws(&c.WS)...)},
		{"timers", d.group(d.timers(&c.Timers, &firstEventSet, true)...)},
		{"replay", d.group(
			field{"max", d.integer(&c.Replay.Max, 0, 1)},
			field{"after_lifecycle", d.boolean(&c.Replay.AfterLifecycle)},
			field{"local_continuations", d.boolean(&c.Replay.LocalContinuations)},
			field{"default_store", d.defaultStore(&c.Replay.DefaultStoreFalse)},
		)},
		{"state", d.group(field{"unknown_ids", d.oneOf(&c.State.UnknownIDs, UnknownRefuse, UnknownPass)})},
		{"switch", d.group(d.switches(&c.Switch)...)},
		{"breaker", func(n *node, path string) {
			d.object(n, path, d.breaker(&c.Breaker)...)
			follow(n, bound{"open", &c.Breaker.Open}, bound{"open_max", &c.Breaker.OpenMax})
		}},
		{"cooldown", func(n *node, path string) {
			d.object(n, path,
				field{"default", d.duration(&c.Cooldown.Default)},
				field{"max", d.duration(&c.Cooldown.Max)},
				field{"wait", d.durationOrOff(&c.Cooldown.Wait)},
				field{"weight_floor", d.share(&c.Cooldown.WeightFloor)},
			)
			follow(n, bound{"default", &c.Cooldown.Default}, bound{"max", &c.Cooldown.Max})
		}},
		{"balance_pause", d.duration(&c.BalancePause)},
		{"on_disconnect", d.oneOf(&c.OnDisconnect, DisconnectCancel, DisconnectDrain)},
		{"delivery", d.oneOf(&c.Delivery, DeliveryStream, DeliveryAtomic)},
		{"retention", d.group(field{"requests", d.duration(&c.Retention.Requests)})},
		{"alerts", d.group(field{"webhook", d.secret(&c.Alerts.Webhook)}, field{"secret", d.secret(&c.Alerts.Secret)})},
		{"channels", d.channels(&c.Channels)},
		{"models", d.models(c, &firstEventSet)},
	}
}

func (d *decoder) limits(l *Limits) []field {
	return []field{
		{"request_body", d.size(&l.RequestBody, 1)},
		{"event", d.size(&l.Event, 1)},
		{"held_bytes", d.size(&l.HeldBytes, 1)},
		{"atomic_bytes", d.size(&l.AtomicBytes, 1)},
		{"connections", d.integer(&l.Connections, 1, math.MaxInt32)},
		{"connections_per_address", d.integer(&l.ConnectionsPerAddress, 0, math.MaxInt32)},
		{"memory", d.size(&l.Memory, 0)},
	}
}

func (d *decoder) ws(w *WS) []field {
	return []field{
		{"enabled", d.boolean(&w.Enabled)},
		{"message", d.size(&w.Message, 1)},
		{"lifetime", d.duration(&w.Lifetime)},
		{"queued_turns", d.integer(&w.QueuedTurns, 0, 1000)},
		{"memory", d.size(&w.Memory, 1)},
		{"ping", d.duration(&w.Ping)},
		{"origins", d.origins(&w.Origins)},
	}
}

// origins reads a list of origins; their form is for Validate.
func (d *decoder) origins(into *[]string) reader {
	return func(n *node, path string) {
		*into = nil
		d.each(n, path, func(_ int, n *node, path string) {
			var origin string
			d.text(&origin)(n, path)
			*into = append(*into, origin)
		})
	}
}

// timers are the global ones or a model's; only the former end with the process.
func (d *decoder) timers(t *Timers, firstEventSet *bool, global bool) []field {
	fields := []field{
		{"connect", d.duration(&t.Connect)},
		{"headers", d.duration(&t.Headers)},
		{"answer", d.duration(&t.Answer)},
		{"first_event", func(n *node, path string) {
			*firstEventSet = true
			d.duration(&t.FirstEvent)(n, path)
		}},
		{"first_output", d.durationOrOff(&t.FirstOutput)},
		{"idle", d.duration(&t.Idle)},
		{"event_hold", d.durationOrOff(&t.EventHold)},
		{"keepalive", d.durationOrOff(&t.Keepalive)},
		{"write", d.duration(&t.Write)},
		{"total", d.duration(&t.Total)},
	}
	if global {
		return append(fields, field{"shutdown_grace", d.durationOrOff(&t.ShutdownGrace)})
	}
	return fields
}

func (d *decoder) switches(s *Switch) []field {
	on := &s.OnTimeout
	return []field{
		{"max", d.integer(&s.Max, 0, 2)},
		{"on_timeout", d.group(
			field{"responses_stream", d.integer(&on.ResponsesStream, 0, 2)},
			field{"chat_stream", d.integer(&on.ChatStream, 0, 2)},
			field{"messages_stream", d.integer(&on.MessagesStream, 0, 2)},
			field{"not_streaming", d.integer(&on.NotStreaming, 0, 2)},
		)},
	}
}

func (d *decoder) breaker(b *Breaker) []field {
	return []field{
		{"failures", d.integer(&b.Failures, 1, 10000)},
		{"window", d.duration(&b.Window)},
		{"rate", d.share(&b.Rate)},
		{"samples", d.integer(&b.Samples, 1, 1000000)},
		{"open", d.duration(&b.Open)},
		{"open_max", d.duration(&b.OpenMax)},
		{"probes", d.integer(&b.Probes, 1, 100)},
		{"successes", d.integer(&b.Successes, 1, 10000)},
	}
}

// bound is one of two durations that limit each other.
type bound struct {
	key   string
	value *time.Duration
}

// follow lets the default of one bound give way to the other one where only that
// stands in the file: `breaker: {open_max: 5s}` says enough, and the default of 10 s
// is nobody's contradiction. Two that are both written are left to Validate.
func follow(n *node, low, high bound) {
	switch below, above := n.has(low.key), n.has(high.key); {
	case above && !below:
		*low.value = min(*low.value, *high.value)
	case below && !above:
		*high.value = max(*low.value, *high.value)
	}
}

// defaultStore reads upstream or false; false may be a boolean or a word.
func (d *decoder) defaultStore(off *bool) reader {
	return value(d, off, "upstream or false", func(s string) (bool, bool) {
		return s == "false", s == "false" || s == "upstream"
	})
}

// prices reads a price list. required reports whether the input and output
// prices must be there; a cost may leave them out and is then 0.
func (d *decoder) prices(l *price.List, required bool) reader {
	return func(n *node, path string) {
		missing := map[string]bool{"input": required, "output": required}
		present := func(key string, read reader) field {
			return field{key, func(n *node, path string) { missing[key] = false; read(n, path) }}
		}
		d.object(n, path,
			present("input", d.amount(&l.Input)),
			present("output", d.amount(&l.Output)),
			field{"cached_input", d.optionalAmount(&l.CachedInput)},
			field{"cache_write", d.optionalAmount(&l.CacheWrite)},
			field{"request", d.amount(&l.Request)},
			field{"tools", func(n *node, path string) {
				l.Tools = map[string]money.Nano{}
				d.table(n, path, isWord, func(key string, n *node, path string) {
					var each money.Nano
					d.amount(&each)(n, path)
					l.Tools[key] = each
				})
			}},
			field{"tiers", func(n *node, path string) {
				l.Tiers = map[string]money.Factor{}
				d.table(n, path, isWord, func(key string, n *node, path string) {
					var factor money.Factor
					d.factor(&factor)(n, path)
					l.Tiers[key] = factor
				})
			}},
		)
		for _, key := range []string{"input", "output"} {
			if missing[key] && n.kind == mapping {
				d.report(join(path, key), "is required (USD per million tokens)")
			}
		}
	}
}

func (d *decoder) optionalAmount(into **money.Nano) reader {
	return func(n *node, path string) {
		var amount money.Nano
		d.amount(&amount)(n, path)
		*into = &amount
	}
}
