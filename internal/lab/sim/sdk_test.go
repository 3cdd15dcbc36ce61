package sim

import (
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// everything is an answer that uses most of the language's events.
var everything = Step{Do: "answer", Text: "Hello there", Reasoning: "Let me think", Pieces: 3,
	Usage: &Usage{Input: 100, Cached: 20, Output: 30, Reasoning: 10},
	Tools: []ToolCall{{Name: "get_weather", Args: `{"city":"Paris"}`}, {Kind: "web_search_call", Args: `{"query":"x"}`},
		{Kind: "mcp_call", Name: "look", Args: `{}`, Result: "ok"}, {Kind: "code_interpreter_call", Args: "print(1)", Result: "1"}}}

func sdk(b *bench) openai.Client {
	return openai.NewClient(option.WithBaseURL("http://"+b.addr+"/v1"), option.WithAPIKey("sk-x"), option.WithMaxRetries(0))
}

func TestSDKTakesResponsesStream(t *testing.T) {
	b := overTCP(t, map[string]Script{"m": Play(everything)})
	c := sdk(b)
	params := responses.ResponseNewParams{Model: "m",
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("hi")}}
	stream := c.Responses.NewStreaming(t.Context(), params)
	text, seq := "", int64(0)
	var last responses.ResponseCompletedEvent
	for stream.Next() {
		e := stream.Current()
		if e.SequenceNumber != seq {
			t.Errorf("%s has number %d, want %d", e.Type, e.SequenceNumber, seq)
		}
		seq++
		switch e := e.AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text += e.Delta
		case responses.ResponseCompletedEvent:
			last = e
		case nil:
			t.Errorf("the SDK does not know %s", stream.Current().Type)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if text != "Hello there" || last.Response.OutputText() != text || len(last.Response.Output) != 6 {
		t.Errorf("deltas %q, final %q, %d items", text, last.Response.OutputText(), len(last.Response.Output))
	}
	if u := last.Response.Usage; u.InputTokens != 100 || u.InputTokensDetails.CachedTokens != 20 || u.OutputTokens != 30 {
		t.Errorf("usage %+v", u)
	}
	whole, err := c.Responses.New(t.Context(), params)
	if err != nil || whole.OutputText() != text || whole.Status != "completed" {
		t.Errorf("not streaming: %v, %v", whole, err)
	}
	stored, err := c.Responses.Get(t.Context(), whole.ID, responses.ResponseGetParams{})
	if err != nil || stored.OutputText() != text {
		t.Errorf("read again: %v, %v", stored, err)
	}
}

func TestSDKTakesChatStream(t *testing.T) {
	b := overTCP(t, map[string]Script{"m": Play(everything)})
	c := sdk(b)
	params := openai.ChatCompletionNewParams{Model: "m",
		Messages:      []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}}
	stream := c.Chat.Completions.NewStreaming(t.Context(), params)
	var acc openai.ChatCompletionAccumulator
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			t.Errorf("the SDK refuses %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	choice := acc.Choices[0]
	if choice.Message.Content != "Hello there" || choice.FinishReason != "tool_calls" || acc.Usage.TotalTokens != 130 ||
		choice.Message.ToolCalls[0].Function.Arguments != `{"city":"Paris"}` {
		t.Errorf("accumulated %+v, usage %+v", choice, acc.Usage)
	}
	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	whole, err := c.Chat.Completions.New(t.Context(), params)
	if err != nil || whole.Choices[0].Message.Content != "Hello there" || whole.Usage.CompletionTokens != 30 {
		t.Errorf("not streaming: %v, %v", whole, err)
	}
}

func TestSDKSeesFailures(t *testing.T) {
	b := overTCP(t, map[string]Script{"e": Play(Created(), Error("server_error")),
		"r": Play(Step{Do: "fail", Status: 429, Code: "rate_limit_exceeded", RetryAfter: "1"})})
	c := sdk(b)
	for model, want := range map[string]string{"e": "had an error", "r": "429"} {
		stream := c.Responses.NewStreaming(t.Context(), responses.ResponseNewParams{Model: model})
		for stream.Next() {
		}
		if err := stream.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", model, err, want)
		}
	}
}
