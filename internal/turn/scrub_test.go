package turn

import "testing"

func TestScrubWords(t *testing.T) {
	for _, tt := range []struct{ name, raw, want string }{
		{"flat", `{"type":"error", "message":"see https://a.example/x","param":"https://b.example"}`, `{"type":"error", "message":"see …","param":"https://b.example"}`},
		{"nested", `{"error":{"code":"c","message":"key sk-abcdef123456"}}`, `{"error":{"code":"c","message":"key …"}}`},
		{"in a response", `{"response":{"id":"r","error":{"message":"at vllm"},"output":[{"message":"vllm"}]}}`, `{"response":{"id":"r","error":{"message":"at …"},"output":[{"message":"vllm"}]}}`},
		{"a text", `{"type":"error","error":"at vllm:8000, vllm"}`, `{"type":"error","error":"at …, …"}`},
		{"a list", `{"error":[{"message":"at vllm"}, "or vllm", 3]}`, `{"error":[{"message":"at …"},"or …",3]}`},
		{"a text by its event's name", `"lost vllm:8000"`, `"lost …"`},
		{"detail", `{"detail":[{"loc":["vllm"],"msg":"vllm"}]}`, `{"detail":[{"loc":["vllm"],"msg":"…"}]}`},
		{"both ways", `{"message":"vllm","error":{"message":"vllm"}}`, `{"message":"…","error":{"message":"…"}}`},
		{"repeated", `{"message":"fine","message":"vllm"}`, `{"message":"…","message":"…"}`},
		{"nothing to take out", `{"error":{"message":"fine"},"items":["vllm"]}`, ""},
		{"in a choice", `{"choices":[{"message":{"content":"vllm"},"text":"vllm","error":{"message":"at vllm"}},7]}`, `{"choices":[{"message":{"content":"vllm"},"text":"vllm","error":{"message":"at …"}},7]}`},
		{"choices that are none", `{"choices":{"error":"vllm"}}`, ""},
		{"no words", `[1,true,null]`, ""},
		{"too deep to be words", `{"error":{"error":{"error":{"error":{"error":{"error":"vllm"}}}}}}`, ""},
	} {
		got := string(scrubWords([]byte(tt.raw), scrubDepth, []string{"vllm:8000", "vllm", "sk-abcdef123456"}))
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
