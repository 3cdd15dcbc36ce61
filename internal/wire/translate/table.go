package translate

// Features that are more than one member of a body: an encoder asks for them
// by name where its own structure decides.
const (
	FeatureUnknownContent Feature = "content.unknown"
	FeatureImage          Feature = "content.image"
	FeatureImageURL       Feature = "content.image_url"
	FeatureImageDetail    Feature = "content.image_detail"
	FeatureFile           Feature = "content.file"
	FeatureFileURL        Feature = "content.file_url"
	FeatureFileName       Feature = "content.file_name"
	FeatureFileOfReply    Feature = "content.file_in_assistant_turn"
	FeatureAudio          Feature = "content.audio"
	FeatureCitations      Feature = "content.citations"
	FeatureRefusal        Feature = "content.refusal"
	FeaturePhase          Feature = "content.phase"
	FeatureName           Feature = "content.name"
	FeatureMidSystem      Feature = "content.system_in_the_middle"
	FeaturePrefill        Feature = "content.prefill"
	FeatureReasoning      Feature = "content.reasoning"
	FeatureSeal           Feature = "content.sealed_reasoning"
	FeaturePairs          Feature = "content.calls_and_results"
	FeatureArguments      Feature = "content.arguments"
	FeatureHostedHistory  Feature = "content.hosted_call"
	FeatureResultImage    Feature = "content.result_image"
	FeatureResultError    Feature = "content.result_error"
	FeatureCallID         Feature = "content.call_id"
	FeatureEmptyText      Feature = "content.blank_text"
	FeatureNoTurns        Feature = "content.no_turns"

	FeatureCustomTool    Feature = "tools.custom"
	FeatureNamespace     Feature = "tools.namespace"
	FeatureToolName      Feature = "tools.name"
	FeatureToolSchema    Feature = "tools.schema"
	FeatureToolStrict    Feature = "tools.strict"
	FeatureDeferred      Feature = "tools.deferred"
	FeatureHostedTool    Feature = "tools.hosted"
	FeatureUnknownTool   Feature = "tools.unknown"
	FeatureToolAsync     Feature = "tools.async"
	FeatureToolCallers   Feature = "tools.allowed_callers"
	FeatureToolStreaming Feature = "tools.eager_input_streaming"
	FeatureToolCache     Feature = "tools.cache_point"

	FeatureForcedChoice  Feature = "tool_choice.forced"
	FeatureForcedThought Feature = "tool_choice.forced_with_thinking"
	FeatureForcedHosted  Feature = "tool_choice.hosted"
	FeatureAllowedTools  Feature = "tool_choice.allowed"
	FeatureIdleChoice    Feature = "tool_choice.without_tools"
	FeatureParallelOff   Feature = "tool_choice.parallel_off"

	FeatureJSONObject Feature = "format.json_object"
	FeatureJSONSchema Feature = "format.json_schema"
	FeatureSchemaName Feature = "format.schema_name"
	FeatureOddFormat  Feature = "format.unknown"

	FeatureEffort        Feature = "reasoning.effort"
	FeatureBudget        Feature = "reasoning.budget"
	FeatureSummary       Feature = "reasoning.summary"
	FeatureBadEffort     Feature = "reasoning.unknown_effort"
	FeatureCachePoint    Feature = "cache.point"
	FeatureCacheTTL      Feature = "cache.ttl"
	FeatureAutoCache     Feature = "cache.automatic"
	FeatureCachePoints   Feature = "cache.too_many_points"
	FeatureStop          Feature = "stop"
	FeatureMaxOutput     Feature = "max_output"
	FeaturePrewarm       Feature = "max_output.zero"
	FeatureTwoLimits     Feature = "max_output.two_values"
	FeatureTemperature   Feature = "temperature"
	FeatureTopP          Feature = "top_p"
	FeatureTopK          Feature = "top_k"
	FeatureFrequency     Feature = "frequency_penalty"
	FeaturePresence      Feature = "presence_penalty"
	FeatureSeed          Feature = "seed"
	FeatureLogitBias     Feature = "logit_bias"
	FeatureLogprobs      Feature = "logprobs"
	FeatureChoices       Feature = "n"
	FeatureStore         Feature = "store"
	FeatureMetadata      Feature = "metadata"
	FeatureUser          Feature = "user"
	FeatureTier          Feature = "service_tier"
	FeatureSpeed         Feature = "speed"
	FeatureRegion        Feature = "inference_geo"
	FeatureVerbosity     Feature = "verbosity"
	FeatureTruncation    Feature = "truncation"
	FeatureMaxCalls      Feature = "max_tool_calls"
	FeatureAudioOut      Feature = "audio_output"
	FeaturePrediction    Feature = "prediction"
	FeatureModeration    Feature = "moderation"
	FeatureCacheKey      Feature = "prompt_cache_key"
	FeatureRetention     Feature = "prompt_cache_retention"
	FeatureFallbacks     Feature = "fallbacks"
	FeatureBackground    Feature = "background"
	FeatureClearThinking Feature = "context_management.clear_thinking"
	FeatureInclude       Feature = "include"
	FeatureState         Feature = "state"
	FeatureUnknown       Feature = "unknown_member"
)

// Row is one feature in the class table.
type Row struct {
	Feature Feature
	Class   Class
	Name    string // in a sentence
	To      map[Format]Means
}

// Clauses that several rows share.
const (
	noField   = "the upstream's format has no field for it"
	atOrigin  = "it lives at the upstream account that made it"
	leaveOut  = "leave it out, or choose a model whose upstream speaks the client's own format"
	sendWhole = "send the content itself instead of a reference"
)

var (
	carried  = Means{How: Carried}
	dropped  = Means{How: Drops, Why: noField}
	excluded = Means{How: Excludes, Why: noField, Do: leaveOut}
	stateful = Means{How: Excludes, Why: atOrigin, Do: sendWhole}
)

func byFlag(flag string, otherwise Means) Means {
	return Means{How: ByFlag, Flag: flag, Else: otherwise.How, Why: otherwise.Why, Do: otherwise.Do}
}

// Table is the class table: each feature, its class, and how each format takes
// it. docs/translation.md's table of standing losses is made of it.
func Table() []Row {
	to := func(responses, chat, messages Means) map[Format]Means {
		return map[Format]Means{Responses: responses, Chat: chat, Messages: messages}
	}
	all := func(m Means) map[Format]Means { return to(m, m, m) }
	own := Means{How: NotSpoken}
	fixed := Means{How: Drops, Why: "the model samples in a fixed way"}
	return []Row{
		{FeatureUnknownContent, Content, "content of an unknown kind", all(Means{How: Excludes, Why: "the gateway does not know what it says", Do: leaveOut})},
		{FeatureImage, Content, "an image", all(byFlag("images", Means{How: Excludes, Why: "the model does not see images", Do: "choose a model with vision"}))},
		{FeatureImageURL, Content, "an image behind a URL", all(carried)},
		{FeatureImageDetail, Preference, "an image's detail", to(carried, carried, dropped)},
		{FeatureFile, Content, "a file", all(byFlag("pdf", Means{How: Excludes, Why: "the model does not read files", Do: "send the file's text"}))},
		{FeatureFileURL, Content, "a file behind a URL", to(carried, Means{How: Excludes, Why: noField, Do: "send the file's bytes"}, carried)},
		{FeatureFileName, Preference, "a file's name", all(carried)},
		{FeatureFileOfReply, Content, "a document in a turn of the assistant", all(excluded)},
		{FeatureAudio, Content, "audio", to(excluded, carried, excluded)},
		{FeatureCitations, Preference, "citations of an earlier answer", to(carried, dropped, carried)},
		{FeatureRefusal, Content, "an earlier refusal", to(carried, carried, Means{How: Changes, Why: "a refusal is ordinary text there"})},
		{FeaturePhase, Preference, "an earlier text's phase", to(carried, dropped, dropped)},
		{FeatureName, Preference, "a speaker's name", to(dropped, carried, dropped)},
		{FeatureMidSystem, Content, "system text in the middle", to(carried, carried, byFlag("mid_system", Means{How: Changes, Why: "it stands in its place inside a tag, because the format has no system turn"}))},
		{FeaturePrefill, Demand, "an answer that the client began", all(byFlag("prefill", Means{How: Excludes, Why: "the upstream would begin a new answer", Do: "let the conversation end with a turn of the user"}))},
		{FeatureReasoning, Preference, "earlier reasoning", to(own, own, Means{How: Drops, Why: "reasoning without its maker's signature is refused there"})},
		{FeatureSeal, Preference, "sealed reasoning", all(Means{How: Drops, Why: "only its maker can read it"})},
		{FeaturePairs, Content, "a call without its result, or a result without its call", all(Means{How: Excludes, Why: "every upstream refuses it", Do: "send both, once each"})},
		{FeatureArguments, Content, "arguments that are no JSON object", to(carried, carried, Means{How: Excludes, Why: "arguments are an object there", Do: "send the call's arguments as a JSON object"})},
		{FeatureHostedHistory, Content, "a call of a hosted tool", all(Means{How: Excludes, Why: atOrigin, Do: leaveOut})},
		{FeatureResultImage, Content, "an image or file in a result", to(carried, Means{How: Moves, Why: "results are text there; it stands in a user message behind them"}, carried)},
		{FeatureResultError, Preference, "a result's mark as an error", to(dropped, dropped, carried)},
		{FeatureCallID, Preference, "a call's id", all(Means{How: Changes, Why: "its length or its characters are not allowed there"})},

		{FeatureEmptyText, Content, "text of white space alone", to(carried, carried, Means{How: Drops, Why: "the upstream refuses text without a letter"})},
		{FeatureNoTurns, Content, "a conversation without a turn", to(carried, carried, Means{How: Excludes, Why: "the upstream wants one turn at least", Do: "send a message of the user"})},

		{FeatureCustomTool, Offer, "a free-text tool", to(carried, byFlag("custom_tools", Means{How: Wraps, Why: "it is a function with one string there"}), Means{How: Wraps, Why: "it is a function with one string there"})},
		{FeatureNamespace, Offer, "a namespace of tools", to(carried, Means{How: Wraps, Why: "the namespace is a prefix of the names there"}, Means{How: Wraps, Why: "the namespace is a prefix of the names there"})},
		{FeatureToolName, Offer, "a tool's name", all(Means{How: Changes, Why: "it is longer than the format allows"})},
		{FeatureToolSchema, Offer, "a tool's schema that is no object", to(carried, carried, Means{How: Excludes, Why: "a tool's input is an object there", Do: "give the schema type object"})},
		{FeatureToolStrict, Preference, "a tool's strict schema", all(byFlag("strict_tools", dropped))},
		{FeatureDeferred, Offer, "a tool whose schema is loaded later", all(Means{How: Changes, Why: "its schema is sent at once"})},
		{FeatureHostedTool, Offer, "a hosted tool", all(Means{How: Drops, Why: "only its own vendor runs it"})},
		{FeatureUnknownTool, Offer, "a tool of an unknown type", all(Means{How: Drops, Why: "the gateway does not know how it is called"})},
		{FeatureToolAsync, Demand, "an asynchronous tool", all(excluded)},
		{FeatureToolCallers, Demand, "a tool's allowed callers", all(excluded)},
		{FeatureToolStreaming, Preference, "eager streaming of a tool's input", all(dropped)},
		{FeatureToolCache, Preference, "a cache point on a tool", to(dropped, dropped, byFlag("cache_breakpoints", dropped))},

		{FeatureForcedChoice, Demand, "a forced tool", to(carried, carried, byFlag("forced_tool_choice", Means{How: Excludes, Why: "the model refuses a forced tool", Do: "use tool_choice auto"}))},
		{FeatureForcedThought, Demand, "a forced tool together with thinking", to(carried, carried, Means{How: Excludes, Why: "the upstream refuses a forced tool while thinking is on", Do: "turn one of them off"})},
		{FeatureForcedHosted, Demand, "a forced hosted tool", all(Means{How: Excludes, Why: "only its own vendor runs it", Do: leaveOut})},
		{FeatureAllowedTools, Demand, "a choice among some tools", to(carried, carried, Means{How: Changes, Why: "the list of tools is narrowed to them"})},
		{FeatureIdleChoice, Preference, "a tool choice without tools", all(Means{How: Drops, Why: "the upstream refuses it where there is no tool"})},
		{FeatureParallelOff, Demand, "one call at a time", all(byFlag("parallel_tools", excluded))},

		{FeatureJSONObject, Demand, "an answer that is a JSON object", to(byFlag("json", excluded), byFlag("json", excluded), Means{How: Excludes, Why: noField, Do: "ask for a JSON schema"})},
		{FeatureJSONSchema, Demand, "an answer under a JSON schema", all(byFlag("schema", Means{How: Excludes, Why: "the model does not keep to a schema", Do: leaveOut}))},
		{FeatureSchemaName, Preference, "the answer's schema's name and description", to(carried, carried, dropped)},
		{FeatureOddFormat, Demand, "an answer in a format of an unknown kind", all(Means{How: Excludes, Why: "the gateway does not know what it demands", Do: leaveOut})},

		{FeatureEffort, Preference, "the reasoning effort", all(Means{How: Changes, Why: "the nearest lower effort that the model knows"})},
		{FeatureBudget, Preference, "the thinking budget", to(Means{How: Changes, Why: "an effort stands for it there"}, Means{How: Changes, Why: "an effort stands for it there"}, own)},
		{FeatureSummary, Preference, "the summary of the reasoning", to(carried, dropped, carried)},
		{FeatureBadEffort, Demand, "an effort that no provider knows", all(Means{How: Excludes, Why: "its meaning is unknown", Do: "use none, minimal, low, medium, high, xhigh or max"})},
		{FeatureCachePoint, Preference, "a cache point", all(byFlag("cache_breakpoints", dropped))},
		{FeatureCacheTTL, Preference, "a cache point's lifetime", all(Means{How: Changes, Why: "the nearest lifetime that the format has"})},
		{FeatureAutoCache, Preference, "automatic cache points", to(own, own, own)},
		{FeatureCachePoints, Preference, "more cache points than the format has", to(carried, carried, Means{How: Drops, Why: "the last four are kept"})},
		{FeatureStop, Demand, "stop sequences", to(Means{How: Emulates, Why: "the gateway ends the answer at the first one, because the format has no field for it"}, own, carried)},
		{FeatureMaxOutput, Demand, "the largest number of output tokens", all(own)},
		{FeaturePrewarm, Demand, "an output of no tokens", to(excluded, excluded, own)},
		{FeatureTwoLimits, Demand, "two different limits of output tokens", all(Means{How: Excludes, Why: "they contradict each other", Do: "send one of them"})},
		{FeatureTemperature, Preference, "the temperature", all(byFlag("sampling", fixed))},
		{FeatureTopP, Preference, "top_p", all(byFlag("sampling", fixed))},
		{FeatureTopK, Preference, "top_k", to(dropped, dropped, byFlag("sampling", fixed))},
		{FeatureFrequency, Preference, "the frequency penalty", to(dropped, carried, dropped)},
		{FeaturePresence, Preference, "the presence penalty", to(dropped, carried, dropped)},
		{FeatureSeed, Preference, "the seed", to(dropped, carried, dropped)},
		{FeatureLogitBias, Demand, "a bias of tokens", to(excluded, carried, excluded)},
		{FeatureLogprobs, Demand, "probabilities of tokens", to(byFlag("logprobs", excluded), byFlag("logprobs", excluded), excluded)},
		{FeatureChoices, Demand, "several choices", to(excluded, byFlag("n", excluded), excluded)},
		{FeatureStore, Preference, "the storing of the answer", all(Means{How: Drops, Why: "nothing is stored at an upstream of another format"})},
		{FeatureMetadata, Preference, "metadata", to(carried, Means{How: Drops, Why: "providers take it only with answers that they store"}, dropped)},
		{FeatureUser, Preference, "the end user's id", all(Means{How: Changes, Why: "a hash stands for it at another vendor"})},
		{FeatureTier, Preference, "the service tier", all(own)},
		{FeatureSpeed, Preference, "the speed", all(dropped)},
		{FeatureRegion, Demand, "the region of inference", all(excluded)},
		{FeatureVerbosity, Preference, "the verbosity", to(carried, carried, dropped)},
		{FeatureTruncation, Demand, "the truncation of a long input", to(carried, excluded, excluded)},
		{FeatureMaxCalls, Demand, "the largest number of tool calls", to(carried, excluded, excluded)},
		{FeatureAudioOut, Demand, "an answer in sound", to(excluded, carried, excluded)},
		{FeaturePrediction, Preference, "a predicted answer", to(dropped, carried, dropped)},
		{FeatureModeration, Preference, "moderation", all(dropped)},
		{FeatureCacheKey, Preference, "the prompt cache's key", to(carried, carried, dropped)},
		{FeatureRetention, Preference, "the prompt cache's retention", to(carried, carried, dropped)},
		{FeatureFallbacks, Demand, "fallbacks to another model", all(excluded)},
		{FeatureBackground, Demand, "an answer in the background", all(excluded)},
		{FeatureInclude, Preference, "additional output", all(dropped)},
		{FeatureClearThinking, Preference, "the clearing of earlier reasoning", all(Means{How: Drops, Why: "earlier reasoning goes to its maker alone"})},
		{FeatureState, State, "state at an upstream account", all(stateful)},
		{FeatureUnknown, Preference, "a member that the gateway does not know", all(Means{How: Drops, Why: "the gateway does not know what it means there"})},
	}
}
