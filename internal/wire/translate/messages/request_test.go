package messages

import (
	"testing"

	"rubicon/internal/wire/translate"
)

func TestTurns(t *testing.T) {
	pdf := translate.Block{Kind: translate.File, Name: "a.pdf", Source: translate.Source{Mime: "application/pdf", Data: "JVBE"}, Path: "file"}
	note := translate.Block{Kind: translate.File, Source: translate.Source{Mime: "text/plain", Data: "aGk="}, Path: "file"}
	zip := translate.Block{Kind: translate.File, Source: translate.Source{Mime: "application/zip", Data: "AAAA"}, Path: "file"}
	png := translate.Block{Kind: translate.Image, Source: translate.Source{Mime: "image/png", Data: "AAAA"}, Detail: "high", Path: "image"}
	tiff := translate.Block{Kind: translate.Image, Source: translate.Source{Mime: "image/tiff", Data: "AAAA"}, Path: "image"}
	web := translate.Block{Kind: translate.Image, Source: translate.Source{URL: "https://x"}, Path: "image"}
	ref := translate.Block{Kind: translate.Image, Source: translate.Source{Ref: "file-1"}, Path: "image"}
	custom := translate.Block{Kind: translate.Call, ID: "c", Name: "patch", Custom: true, Input: "*** Begin\n", Path: "call"}
	wide := call("w")
	wide.Input = `{"n": 1.50, "big": 12345678901234567890}`
	for name, c := range map[string]struct {
		turns      []translate.Turn
		want, told string
	}{
		"merged, empty text left out": {[]translate.Turn{user(text("a"), text("")), user(text("b"))}, `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]`, ""},
		"white space":                 {[]translate.Turn{user(text("a"), text(" \n"))}, `[{"role":"user","content":[{"type":"text","text":"a"}]}]`, "dropped content.blank_text"},
		"nothing at all":              {[]translate.Turn{user(text(""))}, "", "excluded content.no_turns"},
		"numbers keep their text": {[]translate.Turn{user(text("a")), reply(wide), user(result("w", text("r")))},
			`[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"w","name":"f","input":{"n": 1.50, "big": 12345678901234567890}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"w","content":[{"type":"text","text":"r"}],"cache_control":{"type":"ephemeral"}}]}]`, ""},
		"free text": {[]translate.Turn{user(text("a")), reply(custom), user(result("c"))},
			`[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"patch","input":{"input":"*** Begin\n"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","cache_control":{"type":"ephemeral"}}]}]`, ""},
		"an image":         {[]translate.Turn{user(png)}, `[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]`, "dropped content.image_detail"},
		"an image's URL":   {[]translate.Turn{user(web)}, `[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}]`, ""},
		"an odd image":     {[]translate.Turn{user(tiff)}, "", "excluded content.image"},
		"an image's id":    {[]translate.Turn{user(ref)}, "", "excluded state"},
		"a PDF":            {[]translate.Turn{user(pdf)}, `[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"},"title":"a.pdf"}]}]`, ""},
		"a text file":      {[]translate.Turn{user(note)}, `[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"}}]}]`, ""},
		"an odd file":      {[]translate.Turn{user(zip)}, "", "excluded content.file"},
		"a reply's file":   {[]translate.Turn{user(text("a")), reply(pdf), user(text("b"))}, "", "excluded content.file_in_assistant_turn"},
		"a refusal":        {[]translate.Turn{user(text("a")), reply(translate.Block{Kind: translate.Refusal, Text: "no"}), user(text("b"))}, `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"no"}]},{"role":"user","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]}]`, "changed content.refusal"},
		"a failed result":  {[]translate.Turn{user(text("a")), reply(call("x")), user(translate.Block{Kind: translate.Result, ID: "x", Failed: true, Inner: []translate.Block{text("")}})}, `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","is_error":true,"cache_control":{"type":"ephemeral"}}]}]`, ""},
		"a prefill":        {[]translate.Turn{user(text("a")), reply(text("b"))}, "", "excluded content.prefill"},
		"no result":        {[]translate.Turn{user(text("a")), reply(call("x")), user(text("b"))}, "", "excluded content.calls_and_results"},
		"no call":          {[]translate.Turn{user(text("a"), result("x"))}, "", "excluded content.calls_and_results"},
		"broken arguments": {[]translate.Turn{user(text("a")), reply(translate.Block{Kind: translate.Call, ID: "x", Name: "f", Input: `{"a":`}), user(result("x"))}, "", "excluded content.arguments"},
		"all exclusions":   {[]translate.Turn{user(zip, tiff), user(result("q"))}, "", "excluded content.calls_and_results; excluded content.file; excluded content.image"},
		"a hosted call":    {[]translate.Turn{user(text("a")), reply(translate.Block{Kind: translate.Hosted, Type: "web_search_call", Raw: translate.Raw(`{}`)}), user(text("b"))}, "", "excluded content.hosted_call"},
		"unknown content":  {[]translate.Turn{user(translate.Block{Kind: translate.Unknown, Type: "odd", Raw: translate.Raw(`{}`)})}, "", "excluded content.unknown"},
	} {
		check(t, name, from(c.turns...), translate.Defaults(translate.Messages), "messages", c.want, c.told)
	}
}

func TestTools(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		tool       translate.Tool
		want, told string
	}{
		"no schema":     {function("f"), `[{"name":"f","input_schema":{"type":"object"}}]`, ""},
		"empty schema":  {translate.Tool{Name: "f", Schema: translate.Raw(`{}`)}, `[{"name":"f","input_schema":{"type":"object"}}]`, ""},
		"no type":       {translate.Tool{Name: "f", Schema: translate.Raw(`{"properties":{}}`)}, `[{"name":"f","input_schema":{"type":"object","properties":{}}}]`, "changed tools.schema"},
		"as it is":      {translate.Tool{Name: "f", Description: "d", Schema: translate.Raw(`{"type": "object", "x": 1.0}`), Strict: &yes}, `[{"name":"f","description":"d","input_schema":{"type": "object", "x": 1.0},"strict":true}]`, ""},
		"no object":     {translate.Tool{Name: "f", Schema: translate.Raw(`{"type":"string"}`)}, "", "excluded tools.schema"},
		"deferred":      {translate.Tool{Name: "f", Deferred: true}, `[{"name":"f","input_schema":{"type":"object"}}]`, "changed tools.deferred"},
		"a space":       {translate.Tool{Name: "f", Namespace: "ns"}, `[{"name":"ns__f","input_schema":{"type":"object"}}]`, "wrapped tools.namespace"},
		"hosted":        {translate.Tool{Kind: translate.HostedTool, Type: "web_search"}, ``, "dropped tools.hosted"},
		"unknown":       {translate.Tool{Kind: translate.UnknownTool, Type: "odd"}, ``, "dropped tools.unknown"},
		"a cache point": {translate.Tool{Name: "f", Cache: &translate.CachePoint{TTL: "12h"}}, `[{"name":"f","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral","ttl":"1h"}}]`, "changed cache.ttl"},
	} {
		r := from(user(text("a")))
		r.Tools = []translate.Tool{c.tool}
		check(t, name, r, able(), "tools", c.want, c.told)
	}
}

func TestSettings(t *testing.T) {
	fixed := able()
	fixed.FixedSampling = true
	for name, c := range map[string]struct {
		feature      translate.Feature
		value        string
		f            translate.Flags
		member, want string
		told         string
	}{
		"temperature": {translate.FeatureTemperature, "0.70", able(), "temperature", "0.70", ""},
		"too hot":     {translate.FeatureTemperature, "1.5", able(), "temperature", "1", "changed temperature"},
		"fixed":       {translate.FeatureTemperature, "1.5", fixed, "temperature", "", "dropped temperature"},
		"top_p":       {translate.FeatureTopP, "0.5", able(), "top_p", "0.5", ""},
		"top_k":       {translate.FeatureTopK, "3", able(), "top_k", "3", ""},
		"seed":        {translate.FeatureSeed, "3", able(), "seed", "", "dropped seed"},
		"penalty":     {translate.FeatureFrequency, "1", able(), "frequency_penalty", "", "dropped frequency_penalty"},
		"bias":        {translate.FeatureLogitBias, "{}", able(), "", "", "excluded logit_bias"},
		"logprobs":    {translate.FeatureLogprobs, "2", able(), "", "", "excluded logprobs"},
		"n":           {translate.FeatureChoices, "2", able(), "", "", "excluded n"},
		"tier":        {translate.FeatureTier, `"default"`, able(), "service_tier", `"standard_only"`, ""},
		"priority":    {translate.FeatureTier, `"priority"`, able(), "service_tier", `"auto"`, "changed service_tier"},
		"flex":        {translate.FeatureTier, `"flex"`, able(), "service_tier", "", "dropped service_tier"},
		"metadata":    {translate.FeatureMetadata, `{"a":"b"}`, able(), "metadata", "", "dropped metadata"},
		"user":        {translate.FeatureUser, `"u"`, able(), "metadata", `{"user_id":"` + translate.HashUser("u") + `"}`, "changed user"},
		"store":       {translate.FeatureStore, "true", able(), "store", "", "dropped store"},
		"state":       {translate.FeatureState, `"resp_1"`, able(), "", "", "excluded state"},
		"calls":       {translate.FeatureMaxCalls, "3", able(), "", "", "excluded max_tool_calls"},
		"truncation":  {translate.FeatureTruncation, `"auto"`, able(), "", "", "excluded truncation"},
		"verbosity":   {translate.FeatureVerbosity, `"low"`, able(), "verbosity", "", "dropped verbosity"},
		"unknown":     {translate.FeatureUnknown, "1", able(), "x", "", "dropped unknown_member"},
		"auto cache":  {translate.FeatureCacheKey, `"k"`, fixed, "prompt_cache_key", "", "dropped prompt_cache_key"},
	} {
		r := from(user(text("a")))
		r.Settings = []translate.Setting{{Feature: c.feature, Path: "x", Value: translate.Raw(c.value)}}
		check(t, name, r, c.f, c.member, c.want, c.told)
	}
	// While the model thinks, sampling is fixed.
	r := from(user(text("a")))
	r.Reasoning = translate.Reasoning{Effort: "low"}
	for _, f := range []translate.Feature{translate.FeatureTemperature, translate.FeatureTopP, translate.FeatureTopK} {
		r.Settings = append(r.Settings, translate.Setting{Feature: f, Path: string(f), Value: translate.Raw("0.2")})
	}
	check(t, "thinking", r, able(), "temperature", "", "dropped temperature; dropped top_k; dropped top_p")
}

func TestLimits(t *testing.T) {
	r := from(user(text("a")))
	check(t, "a limit", r, able(), "max_tokens", "8000", "")
	r.MaxOutput = translate.Number{}
	check(t, "none", r, able(), "max_tokens", "32000", "defaulted max_output")
	_, rep := encodeRequest(r, "up", able())
	if got := rep.Header(translate.Chat, translate.Messages); got != "chat>messages; defaulted=max_tokens:32000" {
		t.Error(got)
	}
}

// Each feature of the table is either written, or told: none is without effect.
func TestNoSettingIsSilent(t *testing.T) {
	written := map[translate.Feature]bool{translate.FeatureTemperature: true, translate.FeatureTopP: true, translate.FeatureTopK: true, translate.FeatureTier: true}
	for _, row := range translate.Table() {
		r := from(user(text("a")))
		r.Settings = []translate.Setting{{Feature: row.Feature, Path: "x", Value: translate.Raw(`"auto"`)}}
		_, rep := encodeRequest(r, "up", able())
		if len(rep.Notes)+len(rep.Excluded) == 0 && !written[row.Feature] {
			t.Errorf("%s left no trace", row.Feature)
		}
	}
}
