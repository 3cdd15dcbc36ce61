package fault_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/fault"
)

func TestScrubTakesOut(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Incorrect API key provided: sk-proj-abc***********************wxyz. You can find your API key at https://platform.openai.com/account/api-keys.",
			"Incorrect API key provided: …. You can find your API key at …."},
		{"Incorrect API key provided: sk-abcdEFGH1234567890.", "Incorrect API key provided: …."},
		{"key rk-live_0123456789abcdef was refused", "key … was refused"},
		{"API key not valid: AIzaSyA1234567890abcdefghijklmnopqrstuv", "API key not valid: …"},
		{"gsk_aB3dEfGhIjKlMnOpQrStUvWx is revoked", "… is revoked"},
		{"xai-AbCdEfGhIjKlMnOp", "…"},
		{"credential AKIAIOSFODNN7EXAMPLE", "credential …"},
		{"token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "token …"},
		{"Authorization: Bearer 0a1B2c3D4e5F", "Authorization: Bearer …"},
		{"Azure key 0123456789abcdef0123456789abcdef", "Azure key …"},
		{"Rate limit reached for gpt-4o in organization org-AbCdEfGhIjKlMnOpQrStUvWx on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 1.5s. Visit https://platform.openai.com/account/rate-limits to learn more.",
			"Rate limit reached for gpt-4o in organization … on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 1.5s. Visit … to learn more."},
		{"Project `proj_a1b2c3d4e5f6g7h8` does not have access to model `gpt-5.6-terra`", "Project `…` does not have access to model `gpt-5.6-terra`"},
		{"Rate limit reached in organization org-abc123 for project proj_k1, org-x9", "Rate limit reached in organization … for project …, …"},
		{"organization `org-acme` and project (id: proj_main) are disabled", "organization `…` and project (id: …) are disabled"},
		{"no answer from gpu-7.rack.example:8443 or a.b.test, model.svc.test", "no answer from … or …, …"},
		{"organization (id: 12345678-1234-4abc-8def-1234567890ab) is disabled", "organization (id: …) is disabled"},
		{"Quota exceeded for service 'generativelanguage.googleapis.com' and consumer 'project_number:1234567890'.", "Quota exceeded for service '…' and consumer 'project_number:…'."},
		{"projects/my-project-1/locations/us-central1", "projects/…/locations/us-central1"},
		{"arn:aws:iam::123456789012:user/gateway is not authorized", "… is not authorized"},
		{`Post "http://10.0.0.5:3000/v1/responses": dial tcp 10.0.0.5:3000: connect: connection refused`, `Post "…": dial tcp …: connect: connection refused`},
		{"dial tcp: lookup vllm-backend on 10.0.0.2:53: no such host", "dial tcp: lookup … on …: no such host"},
		{"getaddrinfo ENOTFOUND backend", "getaddrinfo ENOTFOUND …"},
		{"HTTPConnectionPool(host='vllm', port=8000): Max retries exceeded", "HTTPConnectionPool(host='…', port=…): Max retries exceeded"},
		{"upstream api.openai.com:443 failed", "upstream … failed"},
		{"upstream api.openai.com/v1/responses failed, see z.ai", "upstream … failed, see …"},
		{"node gpu-7.cluster.local is down.", "node … is down."},
		{"my-resource.openai.azure.com", "…"},
		{"wss://example.org/socket?key=1", "…"},
		{"postgres://user:pass@db/rubicon", "…"},
		{"connect to [2001:db8::1]:8080", "connect to …"},
		{"connect to 2001:db8::1 port 8080", "connect to … port …"},
		{"listening on localhost:11434, (::1) too", "listening on …, (…) too"},
		{"mail admin@example.com", "mail admin@…"},
	} {
		if diff := cmp.Diff(c.want, fault.Scrub(c.text)); diff != "" {
			t.Errorf("%s\n%s", c.text, diff)
		}
	}
}

func TestScrubLeaves(t *testing.T) {
	for _, text := range []string{
		"",
		"The model `gpt-4.1` does not exist, e.g. use gpt-4.1-mini-2025-04-14 or o4-mini.",
		"claude-3.5-sonnet, claude-sonnet-4-20250514, anthropic.claude-3-5-sonnet-20241022-v2:0",
		"accounts/fireworks/models/deepseek-v3p1, meta-llama/llama-3.1-8b-instruct:free, @cf/meta/llama-3.1-8b, qwen2.5:72b",
		"Invalid file main.go: expected report.pdf, data.json, deploy.sh, index.ts, photo.jpeg or v1.2.3 (i.e. a version).",
		"Unsupported value: 'input[0].content[1].image_url.detail'. Allowed: messages.0.content.1.text, tools.0.function.parameters.in",
		"Previous response with id 'resp_68af4030592c81938ec0a5fbab4a3e9f0a1b2c3d4e5f6071' not found.",
		"No tool output found for function call call_aB3dEfGhIjKlMnOpQrStUvWx.",
		"Item 'rs_68af4030592c81938ec0a5fbab4a3e9f' of type 'reasoning' was provided without its required following item.",
		"This model's maximum context length is 128000 tokens. However, you requested 130532 tokens (2532 in the messages, 128000 in the completion).",
		"An org-wide rule and a project-level proj-setting; see messages.0.content.test and .env.test",
		"Bearer authentication is required; basic authentication is not supported.",
		"Invalid parameter tools[0].user_location; use key-value pairs, a key-management service or risk-averse words.",
		"Version 1.2.3.4 at 12:34:56, messages[1:3], 3.14, 99.9%, U.S. and U.K., std::vector, ASP.NET, socket.io",
		"Please try again in 1m30.5s. Limit: 30000 / min. Requested: 500.",
		"Überlastet — bitte später noch einmal versuchen… 请稍后再试。",
		"image exceeds 5 MB maximum: 7340032 bytes > 5242880 bytes",
		"The support team can help; report 404 or export: 100 and/or n/a.",
	} {
		if diff := cmp.Diff(text, fault.Scrub(text)); diff != "" {
			t.Error(diff)
		}
	}
}

// plantedSecrets makes something secret-looking.
func plantedSecrets(kind uint8, r *rand.Rand) string {
	of := func(alphabet string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(alphabet[r.IntN(len(alphabet))])
		}
		return b.String()
	}
	const lower, all = "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	switch kind % 10 {
	case 0:
		return "sk-" + of(all, 20+r.IntN(40))
	case 1:
		return "rk-" + of(all, 32)
	case 2:
		return "AIza" + of(all, 35)
	case 3:
		return "org-" + of(all, 20) + "1aA"
	case 4:
		return "proj_" + of(all, 16) + "1aA"
	case 5:
		return fmt.Sprintf("%d.%d.%d.%d:%d", 1+r.IntN(255), r.IntN(256), r.IntN(256), r.IntN(256), 1+r.IntN(65535))
	case 6:
		return "https://" + of(lower, 9) + ".example/" + of(all, 12)
	case 7:
		return of(lower, 3) + "." + of(lower, 12) + ".com"
	case 8:
		return of("0123456789abcdef", 32)
	}
	return of(lower, 4) + "-" + of(lower, 8) + ".svc.cluster.local:" + of("123456789", 4)
}

func FuzzScrub(f *testing.F) {
	for kind := range uint8(10) {
		f.Add("Incorrect API key provided:", "You can find it in the docs.", kind, uint64(kind))
		f.Add("dial tcp", ": connection refused", kind, uint64(7))
		f.Add("version", ")", kind, uint64(1))
	}
	f.Fuzz(func(t *testing.T, before, after string, kind uint8, seed uint64) {
		secret := plantedSecrets(kind, rand.New(rand.NewPCG(seed, 0)))
		clean := fault.Scrub(before + ": " + secret + " " + after)
		if strings.Contains(clean, secret) && !strings.Contains(before, secret) && !strings.Contains(after, secret) {
			t.Errorf("%q survived in %q", secret, clean)
		}
	})
}
