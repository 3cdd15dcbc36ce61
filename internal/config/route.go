package config

import (
	"math"
	"net/textproto"
	"strings"
)

// MaxRank bounds weights and priorities; sums of weights stay in range.
const MaxRank = 1_000_000

func (d *decoder) channels(into *[]Channel) reader {
	return func(n *node, path string) {
		d.each(n, path, func(_ int, n *node, path string) {
			c := Channel{ChatUsage: true}
			d.channel(&c)(n, path)
			d.resolveAuth(&c, path)
			c.BaseURL = strings.TrimRight(c.BaseURL, "/")
			*into = append(*into, c)
		})
	}
}

func (d *decoder) channel(c *Channel) reader {
	return d.group(
		field{"name", d.text(&c.Name)},
		field{"protocol", d.oneOf(&c.Protocol, ProtocolResponses, ProtocolChat, ProtocolMessages)},
		field{"base_url", d.text(&c.BaseURL)},
		field{"credentials", func(n *node, path string) {
			d.each(n, path, func(_ int, n *node, path string) {
				var cred Credential
				d.object(n, path, field{"name", d.text(&cred.Name)}, field{"key", d.secret(&cred.Key)})
				c.Credentials = append(c.Credentials, cred)
			})
		}},
		field{"auth", d.oneOf(&c.Auth, AuthBearer, AuthXAPIKey, AuthAPIKey, AuthNone)},
		field{"query", d.secretMap(&c.Query, isQueryName, func(s string) string { return s })},
		field{"headers", d.secretMap(&c.Headers, isHeaderName, textproto.CanonicalMIMEHeaderKey)},
		field{"origin", d.text(&c.Origin)},
		field{"allow_private", d.boolean(&c.AllowPrivate)},
		field{"alias", d.text(&c.Alias)},
		field{"chat_usage", d.boolean(&c.ChatUsage)},
		field{"rules", d.rules(c)},
	)
}

// secretMap reads a mapping with secret values; canonical gives the key that is kept.
func (d *decoder) secretMap(into *SecretMap, ok func(string) bool, canonical func(string) string) reader {
	return func(n *node, path string) {
		*into = SecretMap{}
		d.table(n, path, ok, func(key string, n *node, path string) {
			var v Secret
			d.secret(&v)(n, path)
			if _, again := (*into)[canonical(key)]; again {
				d.report(path, "is given twice (upper and lower case are the same)")
			}
			(*into)[canonical(key)] = v.Reveal()
		})
	}
}

// resolveAuth fills in how a channel's credentials travel.
func (d *decoder) resolveAuth(c *Channel, path string) {
	explicit := c.Auth != ""
	switch {
	case explicit && c.Auth != AuthNone && len(c.Credentials) == 0 && !d.reported(join(path, "credentials")):
		d.report(join(path, "auth"), "needs credentials (a keyless server has auth none)")
	case explicit:
	case len(c.Credentials) == 0:
		c.Auth = AuthNone
	case c.Protocol == ProtocolMessages:
		c.Auth = AuthXAPIKey
	default:
		c.Auth = AuthBearer
	}
}

func (d *decoder) models(c *Config, firstEventSet *bool) reader {
	return func(n *node, path string) {
		d.each(n, path, func(_ int, n *node, path string) {
			m := Model{
				HoldOutputTokens: defaultHoldOutputTokens, Timers: c.Timers,
				FirstEventSet: *firstEventSet, Delivery: c.Delivery,
			}
			d.model(c, &m)(n, path)
			c.Models = append(c.Models, m)
		})
	}
}

func (d *decoder) model(c *Config, m *Model) reader {
	return func(n *node, path string) {
		hold, priced := int(m.HoldOutputTokens), false
		d.object(n, path,
			field{"name", d.text(&m.Name)},
			field{"price", func(n *node, path string) { priced = true; d.prices(&m.Price, true)(n, path) }},
			field{"hold_output_tokens", d.integer(&hold, 1, math.MaxInt32)},
			field{"channels", func(n *node, path string) {
				d.each(n, path, func(_ int, n *node, path string) {
					m.Channels = append(m.Channels, d.candidate(c, m.Name, n, path))
				})
			}},
			field{"timers", d.group(d.timers(&m.Timers, &m.FirstEventSet, false)...)},
			field{"delivery", d.oneOf(&m.Delivery, DeliveryStream, DeliveryAtomic)},
			field{"created", d.date(&m.Created)},
		)
		m.HoldOutputTokens = int64(hold)
		if !priced && n.kind == mapping {
			d.report(join(path, "price"), "is required, with input and output in USD per million tokens")
		}
	}
}

// candidate reads one channel of a model and resolves the name: channels are
// complete by now, so that pointers to them stay valid.
func (d *decoder) candidate(c *Config, model string, n *node, path string) Candidate {
	var name string
	out := Candidate{UpstreamModel: model, Weight: defaultWeight}
	d.object(n, path,
		field{"channel", d.text(&name)},
		field{"upstream_model", d.text(&out.UpstreamModel)},
		field{"weight", d.integer(&out.Weight, 0, MaxRank)},
		field{"priority", d.integer(&out.Priority, 0, MaxRank)},
		field{"cost", d.prices(&out.Cost, false)},
	)
	at := join(path, "channel")
	out.Channel = c.Channel(name)
	switch {
	case out.Channel != nil || d.reported(at) || n.kind != mapping:
	case name == "":
		d.report(at, "is required")
	case isName(name):
		d.report(at, "no channel is named %q", name)
	default:
		d.report(at, "no channel has this name")
	}
	return out
}
