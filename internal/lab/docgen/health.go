package main

import (
	_ "embed"
	"fmt"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/engine/replay"
	"rubicon/internal/health"
	"rubicon/internal/health/breaker"
)

// simulation is the table that the simulation of package turn writes.
//
//go:embed simulation.md
var simulation string

func healthPage() string {
	return generated + `# Health of channels

Each channel has a circuit breaker per upstream model; cooldowns, balance pauses and disabling strike a credential. ` + "`GET /admin/v1/channels`" + ` shows the state with its reason and since when. The numbers are the defaults; all of them are configurable.

## What a failure does

` + effects() + `A rate limit that comes as an event cools the route like a 429 and is no breaker failure; an empty account that comes as an event pauses the credential like a 402. A good end counts as success when the stream ends, not when it opens.

## States

` + states(config.Default()) + chosen(config.Default()) + `## How many requests fail

20 clients send one request after another for ten minutes, with half a second between them in the mean; answers take half a second, failures a tenth of that; each attempt fails by itself, with the chance that is named. What stands is the share of the requests that fail. The engine's own choosing, waiting and deciding runs over real health on a virtual clock, with fixed random numbers: ` + "`go test ./internal/engine/turn -run Simulation -update`" + `. "Before" are the rules that stood earlier: cooldowns of 5 s, no waiting, and any five failures in a row opening a breaker, for 30 s and then twice as long each time.

` + simulation + `
One channel cannot fail less than its attempts do; two cannot fail less than twice in a row. A channel that fails most of its requests is out. The same test sees that a channel that was away for a minute is used again within 15 s of being well, and that a dead one gets at most six probes a minute.

## Operators

` + "`rubicon channel pause | resume | enable | disable | weight`" + ` (or the admin API) overrule what the gateway finds out; such an order is durable when the call returns, reaches every node that shares the database within a second, is kept over restarts, and is told as an [alert](alerts.md); who gave it, when and why stays on record. A keyless channel that upstream refused is put right with ` + "`resume`" + `. Health itself survives a restart too, within its time, a kill -9 included: a change is written as it happens (where channels flap all the time, four times a second). A changed configuration keeps health by the names of channel, credential and upstream model ([reload.md](reload.md)). What an upstream's own words mean can be told per channel ([channel-rules.md](channel-rules.md)). A day with all of it: [simulated-day.md](simulated-day.md).
`
}

func effects() string {
	all := health.Effects()
	var rows [][]string
	for _, r := range replay.Table() { // its order is that of docs/contract.md#s3
		e := all[r.Failure]
		does := ""
		for _, d := range []struct {
			is   bool
			text string
		}{
			{e.Cool, "cools the credential for this model and halves the weight"},
			{e.Balance, "pauses the credential, alert"},
			{e.Disable, "disables the credential, alert"},
			{e.Unfit, "alert: the channel does not serve this"},
		} {
			if d.is {
				does = d.text
			}
		}
		rows = append(rows, []string{contractRows(e.Row), code(r.Failure), yes(e.Breaker), does})
	}
	return table([]string{"row", "failure", "counts for the breaker", "beside that"}, rows)
}

func states(c config.Config) string {
	b, cool := c.Breaker, c.Cooldown
	return table([]string{"state", "how it starts", "how it ends"}, [][]string{
		{code(health.StateClosed), "", fmt.Sprintf("%d failures in a row inside %s open it, once the window holds %d results only if %s of them failed; at most 3 of 5 from one customer while others use the channel", b.Failures, span(b.Window), b.Samples, share(b.Rate))},
		{code(health.StateOpen), "see closed; no traffic", fmt.Sprintf("half-open after %s, and again after each probe that fails; after %s once the outage is %s old", span(b.Open), span(b.OpenMax), span(breaker.LongOutage))},
		{code(health.StateHalfOpen), fmt.Sprintf("%d probe at a time; a hanging one is given up, an aborted one decides nothing", b.Probes), fmt.Sprintf("%d successes close it, one failure opens it", b.Successes)},
		{code(health.StateCooling), fmt.Sprintf("a 429: as long as upstream asks, else %s, doubling while 429s go on and back by one step for each good answer; at most %s; a later 429 may extend, never shorten", span(cool.Default), span(cool.Max)), "time; the weight, halved down to " + fmt.Sprint(cool.WeightFloor) + " of it, doubles back every 30s"},
		{code(health.StatePaused), "the upstream account is empty, or an operator", "an operator; for an empty account also one probe after " + span(c.BalancePause)},
		{code(health.StateNoCredential), "all credentials are disabled: refused by upstream (row " + contractRows("7") + "), or by an operator", "an operator; after row 7 also a re-check every 10m with `GET {base_url}/models`, never with customers' traffic"},
	})
}

// chosen tells what health means for one request.
func chosen(c config.Config) string {
	return fmt.Sprintf(`Of requests that were sent together the failed ones are back first. A failure belongs to the row only if it was sent after whatever is under way for longer; %d in a row open the breaker in any case.

A request that finds every route cooling waits up to %s (`+"`cooldown.wait`"+`) for the first to return, the time being in its record; if upstream named none of the times it goes to that route then, though it cools. It is refused at once where upstream did and nobody is back in time. Routes that are out for another reason are not waited for.

For a minute after a request failed by its route's fault, another one of the same customer with the same body, `+"`prompt_cache_key`"+` or session prefers another host, whatever the priority (`+"`failed_recently`"+`).

`, c.Breaker.Samples, span(c.Cooldown.Wait))
}

// share writes a part of the whole in words where there is one.
func share(part float64) string {
	if part == 0.5 {
		return "half"
	}
	return fmt.Sprintf("%v %%", 100*part)
}

// span writes a duration without zero parts.
func span(d time.Duration) string {
	switch {
	case d%time.Minute == 0 && d > 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d%time.Second == 0:
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return d.String()
}
