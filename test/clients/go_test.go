package clients

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

var golang = []client{
	{"openai-go", "responses-stream", "responses"}, {"openai-go", "responses-fetch", "responses"},
	{"openai-go", "chat-stream", "chat"}, {"openai-go", "chat-fetch", "chat"},
}

// openai-go, as applications use it.
func TestGo(t *testing.T) {
	s := start(t, golang)
	for _, c := range golang {
		for _, sc := range scenarios {
			if !sc.fits(c) {
				continue
			}
			t.Run(c.action+"/"+sc.name, func(t *testing.T) {
				j := newJob(s, c, sc)
				check(t, s, j, call(t.Context(), j))
			})
		}
	}
}

// call does what talk.mjs does.
func call(ctx context.Context, j job) seen {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	api := openai.NewClient(option.WithBaseURL(j.URL+"/v1"), option.WithAPIKey(j.Key), option.WithMaxRetries(j.Retries))
	got := seen{Name: j.Name}
	err := map[string]func(context.Context, openai.Client, job, *seen) error{
		"responses-stream": streamResponse, "responses-fetch": fetchResponse, "chat-stream": streamChat, "chat-fetch": fetchChat,
	}[j.Action](ctx, api, j, &got)
	if err != nil {
		got.Error = sdkError(err)
	}
	return got
}

func sdkError(err error) *failure {
	f := &failure{Name: "error", Message: err.Error()}
	var e *openai.Error
	if errors.As(err, &e) {
		f.Status, f.Code, f.Type = e.StatusCode, e.Code, e.Type
		if e.Response != nil {
			f.RetryAfterHeader, f.ShouldRetry = e.Response.Header.Get("Retry-After"), e.Response.Header.Get("X-Should-Retry")
		}
	}
	return f
}

func question(j job) responses.ResponseNewParams {
	return responses.ResponseNewParams{Model: j.Model, Store: openai.Bool(j.Store), MaxOutputTokens: openai.Int(64),
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("What was cast?")}}
}

func streamResponse(ctx context.Context, api openai.Client, j job, got *seen) error {
	stream := api.Responses.NewStreaming(ctx, question(j))
	defer stream.Close()
	for stream.Next() {
		ev := stream.Current()
		got.Events++
		switch ev.Type {
		case "response.output_text.delta":
			got.Text += ev.Delta
		case "response.completed":
			status := string(ev.Response.Status)
			got.Finish = &status
		}
	}
	return stream.Err()
}

func fetchResponse(ctx context.Context, api openai.Client, j job, got *seen) error {
	r, err := api.Responses.New(ctx, question(j))
	if err != nil {
		return err
	}
	status := string(r.Status)
	got.Text, got.Finish = r.OutputText(), &status
	return nil
}

func chat(j job) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: j.Model, MaxCompletionTokens: openai.Int(64),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What was cast?")}}
}

func streamChat(ctx context.Context, api openai.Client, j job, got *seen) error {
	stream := api.Chat.Completions.NewStreaming(ctx, chat(j))
	defer stream.Close()
	var text strings.Builder
	defer func() { got.Text = text.String() }()
	for stream.Next() {
		got.Events++
		for _, choice := range stream.Current().Choices {
			text.WriteString(choice.Delta.Content)
			if reason := choice.FinishReason; reason != "" {
				got.Finish = &reason
			}
		}
	}
	return stream.Err()
}

func fetchChat(ctx context.Context, api openai.Client, j job, got *seen) error {
	r, err := api.Chat.Completions.New(ctx, chat(j))
	if err != nil {
		return err
	}
	if len(r.Choices) != 1 {
		return errors.New(strconv.Itoa(len(r.Choices)) + " choices")
	}
	got.Text, got.Finish = r.Choices[0].Message.Content, &r.Choices[0].FinishReason
	return nil
}
