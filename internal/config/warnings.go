package config

import (
	"fmt"
	"net/netip"
	"net/url"
)

// shortToken: fewer characters can be guessed by trying.
const shortToken = 8

// Warnings are remarks on a valid configuration: it runs, but hardly as meant.
func (c *Config) Warnings() []Problem {
	k := &checker{}
	k.want(len(c.Admin.Token.Reveal()) >= shortToken, "admin.token", "has fewer than %d characters: whoever reaches %s can guess it", shortToken, c.Admin.Listen)
	k.want(len(c.Channels) > 0, "channels", "the list is empty: nothing can be served")
	k.want(len(c.Models) > 0, "models", "the list is empty: nothing can be served")
	k.want(c.Alerts.Webhook.Empty() || !c.Alerts.Secret.Empty(), "alerts.secret", "is empty: deliveries are not signed, and the receiver cannot tell who sent them")
	used := map[*Channel]bool{}
	for i := range c.Models {
		weight := 0
		for _, candidate := range c.Models[i].Channels {
			used[candidate.Channel] = true
			weight += candidate.Weight
		}
		k.want(weight > 0, fmt.Sprintf("models[%d].channels", i), "every weight is 0: the model gets no answer")
	}
	for i := range c.Channels {
		ch, path := &c.Channels[i], fmt.Sprintf("channels[%d]", i)
		k.want(used[ch], path, "no model uses it")
		k.want(ch.AllowPrivate || !isPrivateHost(ch.BaseURL), path+".base_url",
			"is a private address, and allow_private is false: every attempt will fail")
	}
	return k.problems
}

// isPrivateHost knows literal addresses only; names are judged when dialled.
func isPrivateHost(baseURL string) bool {
	u, err := url.Parse(baseURL)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host == "localhost"
	}
	return !IsPublic(ip)
}
