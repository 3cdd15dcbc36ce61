package agents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"rubicon/internal/lab/sim"
)

// What a request of an agent asks the model for; each has its script.
const (
	prompted  = "start" // a prompt was given
	afterTool = "after" // the shell's output is there
	side      = "side"  // something beside the work: a title, a topic
)

// What the model says, and the command that it wants run. The command leaves a
// mark each time it runs, and its output is not part of itself.
const (
	hello     = "Hello from the model."
	again     = "Hello again from the model."
	concluded = "The command was run."
	marks     = "ran.txt"
	shell     = "echo ran >> " + marks + "; echo rubicon-$((6*7))"
	output    = "rubicon-42"
)

// pick finds out what a request asks for.
func pick(body []byte) string {
	var r struct {
		Tools           []any
		Input, Messages []struct {
			Type, Role string
			Content    json.RawMessage
		}
	}
	if json.Unmarshal(body, &r) != nil || len(r.Tools) == 0 {
		return side
	}
	items := slices.Concat(r.Input, r.Messages)
	if len(items) == 0 {
		return prompted
	}
	last := items[len(items)-1]
	if strings.HasSuffix(last.Type, "_output") || last.Role == "tool" || strings.Contains(string(last.Content), `"tool_result"`) {
		return afterTool
	}
	return prompted
}

// provider plays scripts for prompts and for the shell's output.
func provider(seed string, starts, afters sim.Script) *sim.Provider {
	return sim.New(sim.Options{Seed: seed, Pick: pick, Scripts: map[string]sim.Script{
		prompted: starts, afterTool: afters, side: sim.Play(sim.Answer("A title", sim.Tokens(10, 0, 2)))}})
}

// says is a good answer.
func says(text string) []sim.Step {
	return []sim.Step{sim.Answer(text, sim.Tokens(100, 0, 20))}
}

// calls is a good answer that calls the shell.
func calls(t tool) []sim.Step {
	return []sim.Step{{Do: "answer", Tools: []sim.ToolCall{{Name: t.name, Args: t.arguments()}}, Usage: sim.Tokens(100, 0, 20)}}
}

func (t tool) arguments() string { return string(must(json.Marshal(t.args(shell)))) }

// seal is what only its maker can read.
const seal = "c2VhbGVkIGJ5IHRoZSBwcm92aWRlcg"

// sealed calls the shell after reasoning that is sealed. Its last event lists no
// output, as some providers' do: what continues it must come from the items.
func sealed(t tool) []sim.Step {
	last := sim.Completed(sim.Tokens(100, 0, 20))
	last.Output = json.RawMessage("[]")
	done := sim.ItemDone()
	done.Set = json.RawMessage(`{"item":{"encrypted_content":"` + seal + `"}}`)
	return []sim.Step{sim.Created(), sim.InProgress(), sim.Item("reasoning"), sim.Reasoning("Let me run it."), sim.Signature(seal), done,
		sim.Tool(t.name), sim.Args(t.arguments()), sim.ArgsDone(), sim.ItemDone(), last}
}

// flush lets what was written arrive before a reset, which would overtake it.
const flush = 100 * time.Millisecond

// failsEarly is a failure event before any output.
func failsEarly() []sim.Step {
	return []sim.Step{sim.Created(), sim.InProgress(), sim.Failed("internal_server_error")}
}

// breaksEarly is a status line and then nothing but a reset.
func breaksEarly() []sim.Step { return []sim.Step{sim.Reply(200), sim.Wait(flush), sim.Reset()} }

// cutInText breaks in the middle of a text.
func cutInText() []sim.Step {
	return []sim.Step{sim.Created(), sim.InProgress(), sim.Item("message"), sim.Part(), sim.Text("Hello from "), sim.Wait(flush), sim.Reset()}
}

// cutInCall breaks when the whole call was said, but not that it was all.
func cutInCall(t tool) []sim.Step {
	return []sim.Step{sim.Created(), sim.InProgress(), sim.Tool(t.name), sim.Args(t.arguments()), sim.ArgsDone(), sim.ItemDone(), sim.Wait(flush), sim.Reset()}
}

// limited is a 429 that says when to come back.
func limited(seconds int) []sim.Step {
	return []sim.Step{{Do: "fail", Status: 429, Code: "rate_limit_exceeded", RetryAfter: fmt.Sprint(seconds)}}
}
