package sim

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	responsesPath = "/v1/responses"
	chatPath      = "/openai/v1/chat/completions"
	messagesPath  = "/v1/messages?beta=true"
)

// One word is one event, in each protocol its own, and nothing where there is none.
func TestEventNames(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		steps := []Step{Created(), Queued(), InProgress(), Item("message"), Part(), Text("a"), TextDone(), PartDone(), ItemDone(),
			Item("reasoning"), Part(), Reasoning("r"), ReasoningDone(), PartDone(), Signature("s"), ItemDone(),
			Tool("f"), Args("{}"), ArgsDone(), ItemDone(), Item("web_search_call"), {Do: "progress", Name: "searching"}, ItemDone(),
			Keepalive(), Ping(), Comment("c"), Completed(Tokens(10, 0, 5))}
		want := map[string]string{
			responsesPath: `response.created response.queued response.in_progress response.output_item.added
				response.content_part.added response.output_text.delta response.output_text.done response.content_part.done
				response.output_item.done response.output_item.added response.reasoning_summary_part.added
				response.reasoning_summary_text.delta response.reasoning_summary_text.done response.reasoning_summary_part.done
				response.output_item.done response.output_item.added response.function_call_arguments.delta
				response.function_call_arguments.done response.output_item.done response.output_item.added
				response.web_search_call.searching response.output_item.done keepalive ping :c response.completed`,
			chatPath: `chat chat chat chat chat :keepalive :keepalive :c chat [DONE]`,
			messagesPath: `message_start content_block_start content_block_delta content_block_stop content_block_start
				content_block_delta content_block_delta content_block_stop content_block_start content_block_delta content_block_stop
				content_block_start content_block_stop ping ping :c message_delta message_stop`,
		}
		for path, names := range want {
			got, _ := events(t, b.body(path, steps...))
			for i := range got {
				if got[i] == "" {
					got[i] = "chat"
				}
			}
			if diff := cmp.Diff(strings.Fields(names), got); diff != "" {
				t.Errorf("%s: %s", path, diff)
			}
		}
	})
}

func TestResponsesSequenceAndFinalObject(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		nine := 9
		_, got := events(t, b.body(responsesPath, Created(), Text("Hel"), Step{Do: "text", Text: "lo", Seq: &nine}, Text("!"),
			Completed(Tokens(10, 4, 5))))
		var numbers []float64
		for _, e := range got {
			numbers = append(numbers, e["sequence_number"].(float64))
		}
		if diff := cmp.Diff([]float64{0, 1, 9, 10, 11}, numbers); diff != "" {
			t.Error(diff)
		}
		final := got[4]["response"].(map[string]any)
		for _, field := range strings.Fields(`id created_at completed_at status incomplete_details model previous_response_id
			instructions output error tools tool_choice truncation parallel_tool_calls text top_p presence_penalty
			frequency_penalty top_logprobs temperature reasoning usage max_output_tokens max_tool_calls store background
			service_tier safety_identifier prompt_cache_key`) {
			if _, ok := final[field]; !ok {
				t.Errorf("the final object has no %s", field)
			}
		}
		if final["id"] != got[0]["response"].(map[string]any)["id"] {
			t.Error("the id changed on the way")
		}
		text := final["output"].([]any)[0].(map[string]any)["content"].([]any)[0].(map[string]any)["text"]
		if text != "Hello!" {
			t.Errorf("final text %q", text)
		}
		want := map[string]any{"input_tokens": 10.0, "input_tokens_details": map[string]any{"cached_tokens": 4.0},
			"output_tokens": 5.0, "output_tokens_details": map[string]any{"reasoning_tokens": 0.0}, "total_tokens": 15.0}
		if diff := cmp.Diff(want, final["usage"]); diff != "" {
			t.Error(diff)
		}
	})
}

func TestResponsesEchoesTheRequest(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		b.p.Script("m", Play(Answer("Hi", nil)))
		_, body, _ := b.answer(responsesPath, `{"model":"m","store":false,"instructions":"costs $KEY","temperature":0.5,"service_tier":"flex"}`)
		var got map[string]any
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		if got["store"] != false || got["instructions"] != "costs $KEY" || got["temperature"] != 0.5 || got["service_tier"] != "flex" {
			t.Errorf("got %s", body)
		}
	})
}

// Shapes of failures, each as its protocol has it.
func TestFailureShapes(t *testing.T) {
	yes := true
	failed := Step{Do: "failed", Code: "server_is_overloaded", Retryable: &yes, Usage: Tokens(10, 0, 3)}
	flat := Error("rate_limit_exceeded")
	flat.Flat = true
	named := Error("server_error")
	named.Message = "$KEY failed at $HOST"
	tests := []struct {
		name, path string
		step       Step
		field      string // of the event; "" is the event itself
		want       string
	}{
		{"responses failed", responsesPath, failed, "response.error",
			`{"code":"server_is_overloaded","message":"Our servers are currently overloaded. Please try again later.","retryable":true}`},
		{"responses failed usage", responsesPath, failed, "response.usage.output_tokens", `3`},
		{"responses failed output", responsesPath, failed, "response.output", `[]`},
		{"responses error nested", responsesPath, named, "error",
			`{"type":"server_error","code":"server_error","message":"sk-secret failed at up.test","param":null}`},
		{"responses error flat", responsesPath, flat, "",
			`{"type":"error","sequence_number":0,"code":"rate_limit_exceeded","message":"Rate limit reached for m. Please try again in 1s.","param":null}`},
		{"chat", chatPath, Failed("insufficient_quota"), "",
			`{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`},
		{"messages", messagesPath, Error("server_is_overloaded"), "",
			`{"type":"error","error":{"type":"overloaded_error","message":"Our servers are currently overloaded. Please try again later."}}`},
		{"messages unknown", messagesPath, Failed("quantum_flux"), "error.type", `"quantum_flux"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			virtualProvider(t, func(t *testing.T, b *bench) {
				_, got := events(t, b.body(tt.path, tt.step))
				var value any = got[0]
				for _, key := range strings.FieldsFunc(tt.field, func(r rune) bool { return r == '.' }) {
					value = value.(map[string]any)[key]
				}
				var want any
				if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, value); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestChatUsageVariants(t *testing.T) {
	tests := []struct {
		name  string
		asked bool
		step  Step
		want  []string // per chunk: "-" no usage field, "null", or the total
	}{
		{"not asked", false, Step{}, []string{"-", "-", "-"}},
		{"asked", true, Step{}, []string{"null", "null", "null", "15"}},
		{"forced", false, Step{Force: true}, []string{"-", "-", "-", "15"}},
		{"on the finish chunk", false, Step{UsageOn: "finish"}, []string{"-", "-", "15"}},
		{"on every chunk", false, Step{UsageOn: "every"}, []string{"15", "15", "15"}},
		{"none", true, Step{UsageOn: "none"}, []string{"null", "null", "null"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			virtualProvider(t, func(t *testing.T, b *bench) {
				tt.step.Do, tt.step.Text, tt.step.Pieces, tt.step.Usage = "answer", "Hello", 1, Tokens(10, 0, 5)
				b.p.Script("m", Play(tt.step))
				ask := stream("m")
				if tt.asked {
					ask = `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`
				}
				_, body, err := b.answer(chatPath, ask)
				if err != nil {
					t.Fatal(err)
				}
				names, chunks := events(t, body)
				var got []string
				for i, c := range chunks {
					usage, ok := c["usage"]
					switch {
					case names[i] == "[DONE]":
						continue
					case !ok:
						got = append(got, "-")
					case usage == nil:
						got = append(got, "null")
					default:
						got = append(got, string(jsonText(usage.(map[string]any)["total_tokens"])))
					}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestMessagesUsageIsCumulativeAndSplit(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		names, got := events(t, b.body(messagesPath, Step{Do: "answer", Text: "Hi",
			Usage: &Usage{Input: 100, Cached: 60, CacheWrite: 20, Output: 5}}))
		opening := got[0]["message"].(map[string]any)["usage"].(map[string]any)
		closing := got[len(got)-2]["usage"].(map[string]any)
		if names[len(got)-2] != "message_delta" {
			t.Fatalf("events %v", names)
		}
		for field, want := range map[string]float64{"input_tokens": 20, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 20} {
			if opening[field] != want || closing[field] != want {
				t.Errorf("%s: %v at the start, %v at the end, want %v", field, opening[field], closing[field], want)
			}
		}
		if opening["output_tokens"] != 1.0 || closing["output_tokens"] != 5.0 {
			t.Errorf("output %v, %v", opening["output_tokens"], closing["output_tokens"])
		}
	})
}

// A request without stream gets what the same events come to as one JSON answer.
func TestCollapsedAnswers(t *testing.T) {
	tests := []struct {
		name, path string
		steps      []Step
		status     int
		want       string // part of the body
		broken     bool
	}{
		{"responses", responsesPath, []Step{Created(), Text("Hi"), Wait(time.Second), Completed(Tokens(1, 0, 1))}, 200, `"text":"Hi"`, false},
		{"responses failed", responsesPath, []Step{Created(), Failed("server_error")}, 200, `"status":"failed"`, false},
		{"chat", chatPath, []Step{Created(), Text("Hi"), Completed(Tokens(1, 0, 1))}, 200, `"content":"Hi"`, false},
		{"chat failed", chatPath, []Step{Created(), Failed("rate_limit_exceeded")}, 429, `"code":"rate_limit_exceeded"`, false},
		{"messages", messagesPath, []Step{Created(), Item("message"), Text("Hi"), Completed(nil)}, 200, `"text":"Hi"`, false},
		{"messages failed", messagesPath, []Step{Created(), Failed("overloaded_error")}, 529, `"type":"overloaded_error"`, false},
		{"nothing came of it", responsesPath, []Step{Created(), End()}, 200, "", false},
		{"broken off", responsesPath, []Step{Created(), FIN()}, 200, `{"id":`, true},
		{"set lies over the object", responsesPath, []Step{{Do: "completed", Set: json.RawMessage(`{"response":{"user":"u-9"}}`)}}, 200,
			`"user":"u-9"`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			virtualProvider(t, func(t *testing.T, b *bench) {
				b.p.Script("m", Play(tt.steps...))
				res, body, err := b.answer(tt.path, `{"model":"m"}`)
				if res == nil {
					t.Fatal(err)
				}
				if res.StatusCode != tt.status || !strings.Contains(body, tt.want) || (err != nil) != tt.broken {
					t.Errorf("status %d, %v, body %s", res.StatusCode, err, body)
				}
				if got := res.Header.Get("Content-Type"); got != "application/json" {
					t.Errorf("content type %q", got)
				}
			})
		})
	}
}

func TestAnswerStopsAfterSomeEvents(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		s := Answer("Hello", nil)
		s.Events = 5
		names, _ := events(t, b.body(responsesPath, s, End()))
		if len(names) != 5 || names[4] != "response.output_text.delta" {
			t.Errorf("events %v", names)
		}
	})
}

func TestIDsAreTheScriptsOrCounted(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		b.p.seed = "z"
		named := Answer("Hello", nil)
		named.ID, named.Model = "resp_mine", "gpt-real"
		b.p.Script("m", Calls([]Step{named}, []Step{Answer("Hello", nil)}))
		var ids, models []string
		for range 3 {
			res, body, _ := b.answer(responsesPath, `{"model":"m"}`)
			var o struct{ ID, Model string }
			if err := json.Unmarshal([]byte(body), &o); err != nil {
				t.Fatal(err)
			}
			ids, models = append(ids, o.ID+" "+res.Header.Get("X-Request-Id")), append(models, o.Model)
		}
		if diff := cmp.Diff([]string{"resp_mine req_z000001", "resp_z000002 req_z000002", "resp_z000003 req_z000003"}, ids); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"gpt-real", "m", "m"}, models); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCallsBesideTheProtocols(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		b.p.Script("a", Play(Answer("Hi", nil)))
		b.p.Script("GET /models/{id}", Play(ReplyError(503, "server_error")))
		tests := []struct {
			path, body string
			status     int
			want       string
		}{
			{"/v1/models", "", 200, `"id":"a"`},
			{"/v1/models/a", "", 503, `"code":"server_error"`},
			{"/v1/responses/resp_5", "", 200, `"id":"resp_5"`},
			{"/v1/responses/resp_5/input_items", "", 200, `"object":"list"`},
			{"/v1/responses/compact", `{"model":"x"}`, 200, `"object":"response.compaction"`},
			{"/v1/responses/input_tokens", `{"model":"x"}`, 200, `"input_tokens":10`},
			{"/v1/messages/count_tokens", `{"model":"x"}`, 200, `{"input_tokens":10}`},
			{"/v1/embeddings", `{"model":"x","input":["a","b"],"encoding_format":"base64"}`, 200, `"index":1,"embedding":"AACAPgAAAL8AAIA/"`},
			{"/v1/responses", `{"model":"nobody"}`, 404, `"code":"model_not_found"`},
			{"/", "", 200, "ok"},
			{"/else", "", 404, `"code":"not_found"`},
		}
		for _, tt := range tests {
			res, body, err := b.answer(tt.path, tt.body)
			if err != nil || res.StatusCode != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("%s: %v, %v, %s", tt.path, res.StatusCode, err, body)
			}
		}
	})
}

func TestDeletedResponseStaysAway(t *testing.T) {
	b := overTCP(t, nil)
	for i, want := range []string{`"deleted":true`, `"not_found"`} {
		c, err := b.dial()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		req, _ := http.NewRequest("DELETE", "http://"+b.addr+"/v1/responses/resp_1", nil)
		if err := req.Write(c); err != nil {
			t.Fatal(err)
		}
		if _, body, _ := readAnswer(t, c); !strings.Contains(body, want) {
			t.Errorf("delete %d: %s", i, body)
		}
	}
}
