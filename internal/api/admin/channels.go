package admin

import (
	"rubicon/internal/books/journal"
	"rubicon/internal/wire/fault"
)

func listChannels(a *api, c *call) (ChannelList, error) {
	if a.Channels == nil {
		return ChannelList{[]Channel{}}, nil
	}
	list, err := a.Channels.Channels(c.ctx())
	for i := range list {
		list[i].Credentials = orEmpty(list[i].Credentials)
	}
	return ChannelList{orEmpty(list)}, err
}

// override makes the endpoint of an action that takes nothing but a reason.
func override(action Action) func(*api, *call, Reason) (Done, error) {
	return func(a *api, c *call, in Reason) (Done, error) {
		return a.override(c, Override{Action: action, Credential: c.r.PathValue("cred"), Reason: in.Reason})
	}
}

func setWeight(a *api, c *call, in Weight) (Done, error) {
	if err := required("public_model", in.PublicModel); err != nil {
		return Done{}, err
	}
	if in.Weight == nil {
		return Done{}, fault.New(fault.InvalidRequest, "weight is required.").WithParam("weight")
	}
	if *in.Weight < DefaultWeight {
		return Done{}, fault.New(fault.InvalidRequest, "weight must be 0 or more, or -1 for that of the configuration.").WithParam("weight")
	}
	return a.override(c, Override{Action: ActionWeight, PublicModel: in.PublicModel, Weight: *in.Weight, Reason: in.Reason})
}

func (a *api) override(c *call, o Override) (Done, error) {
	if a.Channels == nil {
		return Done{}, ErrUnknown
	}
	o.Channel, o.Actor = c.r.PathValue("name"), c.actor
	if err := checkWord("reason", o.Reason); err != nil {
		return Done{}, err
	}
	return Done{OK: true}, a.Channels.Override(c.ctx(), o)
}

func plan(a *api, c *call) (journal.Decision, error) {
	model := c.query["model"]
	if err := required("model", model); err != nil {
		return journal.Decision{}, err
	}
	if a.Planner == nil {
		return journal.Decision{}, ErrUnknown
	}
	d, err := a.Planner.Plan(c.ctx(), model, c.query["protocol"])
	d.Candidates = orEmpty(d.Candidates)
	return d, err
}
