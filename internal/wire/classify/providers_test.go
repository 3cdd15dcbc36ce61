package classify_test

import (
	"testing"

	. "rubicon/internal/wire/classify"
	"rubicon/internal/wire/protocol"
)

// answer is how one provider says one thing. The bodies are written by hand in
// the providers' shapes.
type answer struct {
	says   string
	status int
	body   string
	want   Failure
}

// The protocols' names; the rules that are built in do not depend on them.
const (
	chat      = "chat"
	messages  = "messages"
	responses = "responses"
)

var providers = []struct {
	name     string
	protocol string
	answers  []answer
}{
	{"OpenAI", responses, []answer{
		{"rate limit", 429, `{"error":{"message":"Rate limit reached for gpt-5.6 in organization org-abc on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s. Visit https://platform.openai.com/account/rate-limits to learn more.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`, RateLimited},
		{"request alone too large", 429, `{"error":{"message":"Request too large for gpt-5.6 in organization org-abc on tokens per min (TPM): Limit 30000, Requested 90000. The input or output tokens must be reduced in order to run successfully.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, Deterministic},
		{"quota", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, Balance},
		{"billing not active", 429, `{"error":{"message":"Your account is not active, please check your billing details on our website.","type":"billing_not_active","param":null,"code":"billing_not_active"}}`, Balance},
		{"hard limit", 400, `{"error":{"message":"Billing hard limit has been reached","type":"invalid_request_error","param":null,"code":"billing_hard_limit_reached"}}`, Balance},
		{"overload", 503, `{"error":{"message":"Our servers are currently overloaded. Please try again later.","type":"service_unavailable_error","param":null,"code":"server_is_overloaded"}}`, Overloaded},
		{"overload, type only", 503, `{"error":{"message":"Our servers are currently overloaded. Please try again later.","type":"service_unavailable_error","param":null,"code":null}}`, Overloaded},
		{"slow down", 503, `{"error":{"message":"Slow down","type":"server_error","param":null,"code":"slow_down"}}`, Overloaded},
		{"overload in words alone", 503, `{"error":{"message":"The engine is currently overloaded, please try again later","type":"server_error","param":null,"code":null}}`, Upstream5xx},
		{"server error", 500, `{"error":{"message":"The server had an error while processing your request. Sorry about that!","type":"server_error","param":null,"code":null}}`, Upstream5xx},
		{"context length", 400, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`, Deterministic},
		{"policy", 400, `{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.","type":"invalid_request_error","param":null,"code":"invalid_prompt"}}`, Deterministic},
		{"region", 403, `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}}`, Deterministic},
		{"bad key", 401, `{"error":{"message":"Incorrect API key provided: sk-abc***xyz. You can find your API key at https://platform.openai.com/account/api-keys.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, Auth},
		{"deactivated", 403, `{"error":{"message":"The OpenAI account associated with this API key has been deactivated.","type":"invalid_request_error","param":null,"code":"account_deactivated"}}`, Auth},
		{"terminated for policy", 403, `{"error":{"message":"Your access was terminated due to violation of our policies, please check your email for more information.","type":"access_terminated","param":null,"code":"access_terminated"}}`, Auth},
		{"scope", 403, `{"error":{"message":"You have insufficient permissions for this operation. Missing scopes: model.request.","type":"invalid_request_error","param":null,"code":null}}`, Auth},
		{"project without the model", 403, `{"error":{"message":"Project proj_abc does not have access to model gpt-5.6","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, Unfit},
		{"organization not verified", 403, "{\"error\":{\"message\":\"Your organization must be verified to use the model `o9`. Please go to: https://platform.openai.com/settings/organization/general\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":null}}", Unfit},
		{"a file of another", 403, `{"error":{"message":"You do not have permission to use this file.","type":"invalid_request_error","param":"input[0].content[1].file_id","code":null}}`, Deterministic},
		{"model missing", 404, "{\"error\":{\"message\":\"The model `gpt-9` does not exist or you do not have access to it.\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"model_not_found\"}}", Unfit},
		{"model of another API", 404, `{"error":{"message":"This model is only supported in v1/responses and not in v1/chat/completions.","type":"invalid_request_error","param":"model","code":null}}`, Unfit},
		{"item missing", 404, "{\"error\":{\"message\":\"Item with id 'rs_model_1' not found. Items are not persisted for zero data retention organizations or when `store` is false on the model.\",\"type\":\"invalid_request_error\",\"param\":\"input\",\"code\":null}}", Deterministic},
		{"response missing", 404, `{"error":{"message":"Response with id 'resp_abc' not found.","type":"invalid_request_error","param":null,"code":null}}`, Deterministic},
		{"vector store missing", 404, `{"error":{"message":"Vector store 'vs_abc' not found.","type":"invalid_request_error","param":"tools[0].vector_store_ids","code":null}}`, Deterministic},
		{"wrong path", 404, `{"error":{"message":"Invalid URL (POST /v1/v1/responses)","type":"invalid_request_error","param":null,"code":null}}`, Deterministic},
		{"previous response", 400, `{"error":{"message":"Previous response with id 'resp_abc' not found.","type":"invalid_request_error","param":"previous_response_id","code":"previous_response_not_found"}}`, Deterministic},
		{"invalid value that quotes", 400, `{"error":{"message":"Invalid value: 'your credit balance is too low'. Supported values are: 'low', 'medium', and 'high'.","type":"invalid_request_error","param":"reasoning.effort","code":"invalid_value"}}`, Deterministic},
		{"the same without a parameter", 400, `{"error":{"message":"Invalid value: 'your credit balance is too low'. Supported values are: 'low', 'medium', and 'high'.","type":"invalid_request_error","param":null,"code":"invalid_value"}}`, Deterministic},
		{"a tool's server refused", 424, `{"error":{"message":"Error retrieving tool list from MCP server: 'x'. Http status code: 401 (Unauthorized)","type":"external_connector_error","param":"tools","code":"http_error"}}`, Deterministic},
	}},
	{"Azure", chat, []answer{
		{"rate limit", 429, `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2026-01-01 have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 6 seconds. Please go here: https://aka.ms/oai/quotaincrease if you would like to further increase the default rate limit."}}`, RateLimited},
		{"rate limit, new words", 429, `{"error":{"code":"RateLimitReached","message":"Your requests to gpt-5.6 for deployment d in East US have exceeded the token rate limit for your current AIServices S0 pricing tier."}}`, RateLimited},
		{"busy", 429, `{"error":{"code":"NoCapacity","message":"The system is currently experiencing high demand and cannot process your request. Your request exceeds the maximum usage size allowed during peak load."}}`, RateLimited},
		{"quota", 429, `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota"}}`, Balance},
		{"server error", 500, `{"error":{"message":"The server had an error while processing your request. Sorry about that!","type":"server_error","param":null,"code":null}}`, Upstream5xx},
		{"unavailable", 503, `{"error":{"code":"InternalServerError","message":"The service is temporarily unable to process your request. Please try again later."}}`, Upstream5xx},
		{"overload", 503, `{"error":{"code":"EngineOverloaded","message":"The engine is currently overloaded."}}`, Overloaded},
		{"context length", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 200000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, Deterministic},
		{"policy", 400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true,"severity":"high"}}}}}`, Deterministic},
		{"bad key", 401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource."}}`, Auth},
		{"no permission", 403, `{"error":{"code":"PermissionDenied","message":"The principal lacks the required data action to perform this operation."}}`, Auth},
		{"network rules", 403, `{"error":{"code":"403","message":"Access denied due to Virtual Network/Firewall rules."}}`, Deterministic},
		{"deployment missing", 404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again."}}`, Unfit},
		{"resource missing", 404, `{"error":{"code":"404","message":"Resource not found"}}`, Deterministic},
	}},
	{"Anthropic", messages, []answer{
		{"rate limit", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 50,000 input tokens per minute. For details, refer to: https://docs.claude.com/en/api/rate-limits."},"request_id":"req_011"}`, RateLimited},
		{"rate limit of the account", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit. Please try again later."}}`, RateLimited},
		{"balance", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."},"request_id":"req_011"}`, Balance},
		{"spend limit", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC."}}`, Balance},
		{"billing", 402, `{"type":"error","error":{"type":"billing_error","message":"There is an issue with your billing or payment information."}}`, Balance},
		{"overload", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_011"}`, Overloaded},
		{"server error", 500, `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`, Upstream5xx},
		{"context length", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`, Deterministic},
		{"too large", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, Deterministic},
		{"policy", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`, Deterministic},
		{"not allowed", 403, `{"error":{"type":"forbidden","message":"Request not allowed"}}`, Deterministic},
		{"bad key", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, Auth},
		{"permission", 403, `{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource."}}`, Auth},
		{"disabled organization", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"This organization has been disabled."}}`, Auth},
		{"model missing", 404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}`, Unfit},
		{"path missing", 404, `{"type":"error","error":{"type":"not_found_error","message":"Not Found"}}`, Deterministic},
		{"container missing", 404, `{"type":"error","error":{"type":"not_found_error","message":"Container container_011 not found"}}`, Deterministic},
	}},
	{"Gemini", chat, []answer{
		{"rate limit that speaks of quota and billing", 429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, head over to: https://ai.google.dev/gemini-api/docs/rate-limits.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 10, model: gemini-3-flash\nPlease retry in 34.07s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]`, RateLimited},
		{"prepaid credits", 429, `[{"error":{"code":429,"message":"Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.","status":"RESOURCE_EXHAUSTED"}}]`, Balance},
		{"quota without a metric", 429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}]`, Balance},
		{"billing off", 403, `[{"error":{"code":403,"message":"This API method requires billing to be enabled. Please enable billing on project #1 by visiting https://console.developers.google.com/billing/enable?project=1 then retry.","status":"PERMISSION_DENIED"}}]`, Balance},
		{"overload", 503, `[{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}]`, Overloaded},
		{"unavailable", 503, `[{"error":{"code":503,"message":"The service is currently unavailable.","status":"UNAVAILABLE"}}]`, Upstream5xx},
		{"server error", 500, `[{"error":{"code":500,"message":"An internal error has occurred. Please retry or report it.","status":"INTERNAL"}}]`, Upstream5xx},
		{"deadline", 504, `[{"error":{"code":504,"message":"The request timed out. Please try again.","status":"DEADLINE_EXCEEDED"}}]`, Upstream5xx},
		{"context length", 400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, Deterministic},
		{"location", 400, `[{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}]`, Deterministic},
		{"bad key as 400", 400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]`, Auth},
		{"leaked key", 403, `[{"error":{"code":403,"message":"Your API key was reported as leaked. Please use another API key.","status":"PERMISSION_DENIED"}}]`, Auth},
		{"no key", 403, `[{"error":{"code":403,"message":"Method doesn't allow unregistered callers (callers without established identity).","status":"PERMISSION_DENIED"}}]`, Auth},
		{"model missing", 404, `[{"error":{"code":404,"message":"models/gemini-9 is not found for API version v1main, or is not supported for generateContent. Call ListModels to see the list of available models.","status":"NOT_FOUND"}}]`, Unfit},
		{"entity missing", 404, `[{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND"}}]`, Deterministic},
	}},
	{"Bedrock", chat, []answer{
		{"rate limit", 429, `{"message":"Too many tokens, please wait before trying again."}`, RateLimited},
		{"throttled, with a type", 429, `{"__type":"com.amazon.coral.service#ThrottlingException","Message":"Too many requests, please wait before trying again. You have sent too many requests."}`, RateLimited},
		{"not ready", 429, `{"error":{"message":"Model is not ready for inference. Please wait and try your request again.","type":"ModelNotReadyException","code":null}}`, RateLimited},
		{"payment", 402, `{"message":"Your AWS account has an outstanding balance."}`, Balance},
		{"overload", 503, `{"__type":"ThrottlingException","message":"Too many connections, please wait before trying again."}`, Overloaded},
		{"unavailable", 503, `{"message":"Bedrock is unable to process your request."}`, Upstream5xx},
		{"server error", 500, `{"error":{"message":"The system encountered an unexpected error during processing. Try your request again.","type":"server_error","code":"internal_server_error"}}`, Upstream5xx},
		{"context length", 400, `{"error":{"message":"Input is too long for requested model.","type":"invalid_request_error","code":"validation_error"}}`, Deterministic},
		{"policy", 400, `{"error":{"message":"The request was blocked by the content filter of the guardrail.","type":"invalid_request_error","code":null}}`, Deterministic},
		{"bad token", 403, `{"message":"The security token included in the request is invalid."}`, Auth},
		{"bad key", 403, `{"Message":"Authentication failed: Please make sure your API Key is valid."}`, Auth},
		{"no permission", 403, `{"Message":"User: arn:aws:iam::123456789012:user/g is not authorized to perform: bedrock:InvokeModel on resource: arn:aws:bedrock:us-west-2::foundation-model/x"}`, Auth},
		{"no access to the model", 403, `{"message":"You don't have access to the model with the specified model ID."}`, Unfit},
		{"model missing", 404, `{"error":{"message":"The model 'x.y-v1' does not exist","type":"invalid_request_error","param":"model","code":"model_not_found"}}`, Unfit},
	}},
	{"Vertex", chat, []answer{
		{"rate limit", 429, `[{"error":{"code":429,"message":"Resource exhausted. Please try again later. Please refer to https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details.","status":"RESOURCE_EXHAUSTED"}}]`, RateLimited},
		{"rate limit of a metric", 429, `[{"error":{"code":429,"message":"Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute_per_project_per_base_model with base model: gemini-3. Please submit a quota increase request.","status":"RESOURCE_EXHAUSTED"}}]`, RateLimited},
		{"billing account closed", 403, `[{"error":{"code":403,"message":"The billing account for the owning project is disabled in state closed","status":"PERMISSION_DENIED"}}]`, Balance},
		{"overload", 503, `[{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}]`, Overloaded},
		{"server error", 500, `[{"error":{"code":500,"message":"Internal error encountered.","status":"INTERNAL"}}]`, Upstream5xx},
		{"context length", 400, `[{"error":{"code":400,"message":"Unable to submit request because the input token count is 1200000 but the model only supports up to 1048576.","status":"INVALID_ARGUMENT"}}]`, Deterministic},
		{"policy", 400, `[{"error":{"code":400,"message":"The prompt could not be submitted. This prompt contains sensitive words that violate our policy.","status":"INVALID_ARGUMENT"}}]`, Deterministic},
		{"bad token", 401, `[{"error":{"code":401,"message":"Request had invalid authentication credentials. Expected OAuth 2 access token.","status":"UNAUTHENTICATED"}}]`, Auth},
		{"no permission", 403, `[{"error":{"code":403,"message":"Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/projects/p' (or it may not exist).","status":"PERMISSION_DENIED"}}]`, Auth},
		{"model missing", 404, "[{\"error\":{\"code\":404,\"message\":\"Publisher Model `projects/p/locations/us/publishers/google/models/x` was not found or your project does not have access to it. Please ensure you are using a valid model version.\",\"status\":\"NOT_FOUND\"}}]", Unfit},
	}},
	{"OpenRouter", chat, []answer{
		{"rate limit that speaks of credits", 429, `{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0"},"provider_name":null}},"user_id":"user_abc"}`, RateLimited},
		{"rate limit of a provider", 429, `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"x is temporarily rate-limited upstream. Please retry shortly, or add your own key","provider_name":"Google"}}}`, RateLimited},
		{"credits", 402, `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 4096 tokens, but can only afford 1234.","code":402}}`, Balance},
		{"limit of the key", 403, `{"error":{"message":"Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys","code":403}}`, Balance},
		{"bad gateway", 502, `{"error":{"message":"Provider returned error","code":502,"metadata":{"provider_name":"x"}}}`, Upstream5xx},
		{"no provider", 503, `{"error":{"message":"No instances available","code":503}}`, Upstream5xx},
		{"timeout", 408, `{"error":{"message":"Request timed out","code":408}}`, BadAnswer},
		{"context length", 400, `{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens.","code":400}}`, Deterministic},
		{"moderation that speaks of credits", 403, `{"error":{"code":403,"message":"openai/gpt-5.6 requires moderation on OpenAI. Your input was flagged for \"violence\". No credits were charged.","metadata":{"reasons":["violence"],"flagged_input":"x","provider_name":"OpenAI"}}}`, Deterministic},
		{"bad key", 401, `{"error":{"message":"User not found.","code":401}}`, Auth},
		{"model missing", 404, `{"error":{"message":"No endpoints found for x/y.","code":404}}`, Unfit},
	}},
	{"xAI", chat, []answer{
		{"rate limit", 429, `{"code":"Some resource has been exhausted","error":"Too many requests for team 0000 and model grok-9. Your team's rate limit is - Requests per Second (actual/limit): 10/8"}`, RateLimited},
		{"credits used", 429, `{"code":"Some resource has been exhausted","error":"Your team 0000 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit."}`, Balance},
		{"no credits yet", 403, `{"code":"The caller does not have permission to execute the specified operation","error":"Your newly created team doesn't have any credits yet. You can purchase credits on https://console.x.ai/team/0000."}`, Balance},
		{"overload", 503, `{"code":"The service is currently unavailable","error":"Service temporarily unavailable. The model is at capacity and currently cannot serve this request. Please try again later."}`, Overloaded},
		{"server error", 500, `{"code":"The service encountered an internal error","error":"Internal error"}`, Upstream5xx},
		{"context length", 400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 200000 tokens."}`, Deterministic},
		{"policy that names the key", 403, `{"code":"The caller does not have permission to execute the specified operation","error":"Content violates usage guidelines. Team: 0000, API key ID: 1111, Model: grok-9, Failed check: SAFETY_CHECK_TYPE_X"}`, Deterministic},
		{"bad key as 400", 400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***yz. You can obtain an API key from https://console.x.ai."}`, Auth},
		{"blocked key", 403, `{"code":"The caller does not have permission to execute the specified operation","error":"API key is currently blocked: xa***yz"}`, Auth},
		{"model missing", 404, `{"code":"Some requested entity was not found","error":"The model grok-99 does not exist or your team 0000 does not have access to it. Please ensure you're using the correct API key."}`, Unfit},
	}},
	{"Groq", chat, []answer{
		{"rate limit that speaks of billing", 429, "{\"error\":{\"message\":\"Rate limit reached for model `llama-9` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Used 11000, Requested 2000. Please try again in 5s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}", RateLimited},
		{"request alone too large", 413, "{\"error\":{\"message\":\"Request too large for model `llama-9` in organization `org_x` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}", Deterministic},
		{"spend limit", 400, `{"error":{"message":"API access is blocked because your organization has reached its spend limit.","type":"invalid_request_error","code":"blocked_api_access"}}`, Balance},
		{"flex capacity", 498, `{"error":{"message":"Flex tier capacity exceeded","type":"capacity_exceeded","code":"capacity_exceeded"}}`, Overloaded},
		{"unavailable", 503, `{"error":{"message":"llama-9 is currently over capacity. Please try again and back off exponentially.","type":"internal_server_error"}}`, Upstream5xx},
		{"server error", 500, `{"error":{"message":"Internal Server Error","type":"internal_server_error"}}`, Upstream5xx},
		{"context length", 400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, Deterministic},
		{"tool call failed", 400, `{"error":{"message":"Failed to call a function. Please adjust your prompt.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"x"}}`, Deterministic},
		{"bad key", 401, `{"error":{"message":"Invalid API Key","type":"invalid_request_error","code":"invalid_api_key"}}`, Auth},
		{"restricted", 400, `{"error":{"message":"Organization has been restricted. Please reach out to support if you believe this was in error.","type":"invalid_request_error","code":"organization_restricted"}}`, Auth},
		{"forbidden", 403, `{"error":{"message":"Forbidden"}}`, Deterministic},
		{"model blocked", 403, "{\"error\":{\"message\":\"The model `x` is blocked at the project level. Please have a project admin enable this model.\",\"type\":\"permissions_error\",\"code\":\"model_permission_blocked_project\"}}", Unfit},
		{"model gone", 400, "{\"error\":{\"message\":\"The model `x` has been decommissioned and is no longer supported.\",\"type\":\"invalid_request_error\",\"code\":\"model_decommissioned\"}}", Unfit},
		{"model missing", 404, "{\"error\":{\"message\":\"The model `x` does not exist or you do not have access to it.\",\"type\":\"invalid_request_error\",\"code\":\"model_not_found\"}}", Unfit},
		{"path missing", 404, `{"error":{"message":"Unknown request URL: POST /openai/v1/foo. Please check the URL for typos, or see the docs","type":"invalid_request_error","code":"unknown_url"}}`, Deterministic},
	}},
	{"DeepSeek", chat, []answer{
		{"rate limit", 429, `{"error":{"message":"Rate limit reached. Please pace your requests reasonably.","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}`, RateLimited},
		{"balance whose code is no help", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, Balance},
		{"overload", 503, `{"error":{"message":"Service is too busy. We advise users to temporarily switch to alternative LLM API service providers.","type":"service_unavailable_error","param":null,"code":"service_unavailable_error"}}`, Overloaded},
		{"server error", 500, `{"error":{"message":"Internal Server Error","type":"internal_error","param":null,"code":null}}`, Upstream5xx},
		{"context length", 400, `{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 140000 tokens.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, Deterministic},
		{"policy", 400, `{"error":{"message":"Content Exists Risk","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, Deterministic},
		{"invalid parameter", 422, `{"error":{"message":"Failed to deserialize the JSON body into the target type","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, Deterministic},
		{"bad key", 401, `{"error":{"message":"Authentication Fails, Your api key: ****abcd is invalid","type":"authentication_error","param":null,"code":"invalid_request_error"}}`, Auth},
		{"model missing", 400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, Unfit},
	}},
	{"vLLM", chat, []answer{
		{"model missing, flat", 404, "{\"object\":\"error\",\"message\":\"The model `x` does not exist.\",\"type\":\"NotFoundError\",\"param\":\"model\",\"code\":404}", Unfit},
		{"model missing, nested", 404, "{\"error\":{\"message\":\"The model `x` does not exist.\",\"type\":\"NotFoundError\",\"param\":\"model\",\"code\":404}}", Unfit},
		{"context length", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}`, Deterministic},
		{"bad key", 401, `{"error":"Unauthorized"}`, Auth},
		{"rate limit of a proxy before it", 429, `{"error":"Too Many Requests"}`, RateLimited},
		{"engine died", 500, `{"error":{"message":"EngineCore encountered an issue. See stack trace (above) for the root cause.","type":"InternalServerError","param":null,"code":500}}`, Upstream5xx},
		{"overload of a proxy before it", 503, `{"error":{"message":"Server busy, please retry later","type":"ServiceUnavailable","code":503}}`, Overloaded},
		{"validation", 422, `{"detail":[{"loc":["body","messages"],"msg":"field required","type":"value_error.missing"}]}`, Deterministic},
		{"path missing", 404, `{"detail":"Not Found"}`, Deterministic},
		{"method", 405, `{"detail":"Method Not Allowed"}`, Unfit},
	}},
	{"llama.cpp", chat, []answer{
		{"loading", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, Overloaded},
		{"context length", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`, Deterministic},
		{"bad key", 401, `{"error":{"code":401,"message":"Invalid API Key","type":"authentication_error"}}`, Auth},
		{"path missing", 404, `{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}`, Deterministic},
		{"model missing in the router", 404, `{"error":{"code":404,"message":"model 'x' not found","type":"not_found_error"}}`, Unfit},
		{"server error", 500, `{"error":{"code":500,"message":"failed to parse grammar","type":"server_error"}}`, Upstream5xx},
		{"no slot", 503, `{"error":{"code":503,"message":"no slot available","type":"unavailable_error"}}`, Upstream5xx},
	}},
	{"Ollama", chat, []answer{
		{"model missing", 404, `{"error":{"message":"model \"llama9\" not found, try pulling it first","type":"not_found_error","param":null,"code":null}}`, Unfit},
		{"model missing, plain", 404, `{"error":"model 'llama9' not found"}`, Unfit},
		{"busy", 503, `{"error":{"message":"server busy, please try again.  maximum pending requests exceeded","type":"api_error","param":null,"code":null}}`, Overloaded},
		{"runner died", 500, `{"error":{"message":"llama runner process has terminated: exit status 2","type":"api_error","param":null,"code":null}}`, Upstream5xx},
		{"cloud limit", 429, `{"error":"you've reached your hourly usage limit, please upgrade to continue"}`, RateLimited},
		{"no auth", 401, `{"error":"unauthorized"}`, Auth},
		{"bad request", 400, `{"error":{"message":"json: cannot unmarshal string into Go struct field","type":"invalid_request_error","param":null,"code":null}}`, Deterministic},
	}},
	{"new-api", chat, []answer{
		{"user quota", 403, `{"error":{"message":"用户额度不足, 剩余额度: ＄0.000000 (request id: 2026)","type":"new_api_error","param":"","code":"insufficient_user_quota"}}`, Balance},
		{"token quota", 403, `{"error":{"message":"token quota is not enough, token remain quota: ＄0.1, need quota: ＄0.2 (request id: 2026)","type":"new_api_error","param":"","code":"pre_consume_token_quota_failed"}}`, Balance},
		{"rate limit", 429, `{"error":{"message":"当前分组上游负载已饱和，请稍后再试 (request id: 2026)","type":"new_api_error","param":"","code":"429"}}`, RateLimited},
		{"no channel", 503, `{"error":{"code":"","message":"No available channel for model x under group default (distributor) (request id: 2026)","type":"new_api_error"}}`, Upstream5xx},
		{"upstream failed", 500, `{"error":{"message":"upstream error: do request failed","type":"new_api_error","param":"","code":"do_request_failed"}}`, Upstream5xx},
		{"sensitive words", 400, `{"error":{"message":"user sensitive words detected","type":"new_api_error","param":"","code":"sensitive_words_detected"}}`, Deterministic},
		{"bad token", 401, `{"error":{"message":"Invalid token (request id: 2026)","type":"new_api_error","code":""}}`, Auth},
		{"token without the model", 403, `{"error":{"message":"该令牌无权访问模型 x","type":"new_api_error","code":""}}`, Unfit},
	}},
	{"others", chat, []answer{
		{"Alibaba in arrears", 400, `{"error":{"message":"Access denied, please make sure your account is in good standing.","type":"Arrearage","param":null,"code":"Arrearage"}}`, Balance},
		{"Zhipu out of credit", 429, `{"error":{"code":"1113","message":"余额不足或无可用资源包,请充值。"}}`, Balance},
		{"Moonshot out of credit", 429, `{"error":{"type":"exceeded_current_quota_error","message":"Your account is suspended, please check your plan and billing details"}}`, Balance},
		{"Moonshot overloaded", 429, `{"error":{"type":"engine_overloaded_error","message":"The engine is currently overloaded, please try again later"}}`, RateLimited},
		{"Mistral's tier", 429, `{"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","param":null,"code":"3505"}`, RateLimited},
	}},
}

func TestProviders(t *testing.T) {
	for _, p := range providers {
		for _, a := range p.answers {
			t.Run(p.name+"/"+a.says, func(t *testing.T) {
				info, ok := protocol.ReadFailure([]byte(a.body))
				if !ok {
					t.Fatal("the body is not read")
				}
				got := Status(p.protocol, a.status, info, nil)
				if got.Failure != a.want || got.RateLimit != (a.want == RateLimited) {
					t.Errorf("%d is %s (rate limit %v) by rule %q, want %s; read %+v", a.status, got.Failure, got.RateLimit, got.Rule, a.want, info)
				}
			})
		}
	}
}

// TestEveryProviderSaysEverything keeps the table whole: who can say a thing
// says it here.
func TestEveryProviderSaysEverything(t *testing.T) {
	needed := map[string][]Failure{
		"OpenAI":     {RateLimited, Balance, Overloaded, Deterministic, Auth, Unfit, Upstream5xx},
		"Azure":      {RateLimited, Balance, Overloaded, Deterministic, Auth, Unfit, Upstream5xx},
		"Anthropic":  {RateLimited, Balance, Overloaded, Deterministic, Auth, Unfit, Upstream5xx},
		"Gemini":     {RateLimited, Balance, Overloaded, Deterministic, Auth, Unfit, Upstream5xx},
		"Bedrock":    {RateLimited, Balance, Overloaded, Deterministic, Auth, Unfit, Upstream5xx},
		"Vertex":     {RateLimited, Balance, Overloaded, Deterministic, Auth, Unfit, Upstream5xx},
		"OpenRouter": {RateLimited, Balance, Deterministic, Auth, Unfit, Upstream5xx},
		"xAI":        {RateLimited, Balance, Overloaded, Deterministic, Auth, Unfit, Upstream5xx},
		"Groq":       {RateLimited, Balance, Overloaded, Deterministic, Auth, Unfit, Upstream5xx},
		"DeepSeek":   {RateLimited, Balance, Overloaded, Deterministic, Auth, Unfit, Upstream5xx},
		"vLLM":       {RateLimited, Overloaded, Deterministic, Auth, Unfit, Upstream5xx},
		"llama.cpp":  {Overloaded, Deterministic, Auth, Unfit, Upstream5xx},
		"Ollama":     {RateLimited, Overloaded, Deterministic, Auth, Unfit, Upstream5xx},
		"new-api":    {RateLimited, Balance, Deterministic, Auth, Unfit, Upstream5xx},
	}
	for _, p := range providers {
		said := map[Failure]bool{}
		for _, a := range p.answers {
			said[a.want] = true
		}
		for _, f := range needed[p.name] {
			if !said[f] {
				t.Errorf("%s does not say %s", p.name, f)
			}
		}
		delete(needed, p.name)
	}
	if len(needed) > 0 {
		t.Errorf("missing: %v", needed)
	}
}

func TestEvents(t *testing.T) {
	yes, no := true, false
	cases := []struct {
		name string
		info FailureInfo
		want Finding
	}{
		{"overload", FailureInfo{Code: "server_is_overloaded"}, Finding{Failure: FailedEvent}},
		{"type where there is no code", FailureInfo{Type: "overloaded_error", Message: "Overloaded"}, Finding{Failure: FailedEvent}},
		{"api error", FailureInfo{Type: "api_error"}, Finding{Failure: FailedEvent}},
		{"rate limit", FailureInfo{Code: "rate_limit_exceeded"}, Finding{Failure: FailedEvent, RateLimit: true}},
		{"rate limit type", FailureInfo{Type: "rate_limit_error"}, Finding{Failure: FailedEvent, RateLimit: true}},
		{"rate limit for this request alone", FailureInfo{Code: "rate_limit_exceeded", Message: "Request too large for m: Limit 1, Requested 2."}, Finding{Failure: Deterministic}},
		{"rate limit by number", FailureInfo{Code: "429", Message: "Provider returned error"}, Finding{Failure: FailedEvent, RateLimit: true}},
		{"rate limit by number for this request alone", FailureInfo{Code: "429", Message: "Request too large for m"}, Finding{Failure: Deterministic}},
		{"balance", FailureInfo{Code: "insufficient_quota"}, Finding{Failure: Balance}},
		{"balance type", FailureInfo{Type: "billing_error"}, Finding{Failure: Balance}},
		{"balance by number", FailureInfo{Code: "402"}, Finding{Failure: Balance}},
		{"balance that says retryable", FailureInfo{Code: "insufficient_quota", Retryable: &yes}, Finding{Failure: Balance}},
		{"context length", FailureInfo{Code: "context_length_exceeded", Type: "server_error"}, Finding{Failure: Deterministic}},
		{"policy", FailureInfo{Code: "content_policy_violation"}, Finding{Failure: Deterministic}},
		{"a retryable code of a deterministic type", FailureInfo{Code: "server_error", Type: "invalid_request_error"}, Finding{Failure: FailedEvent}},
		{"deterministic type", FailureInfo{Type: "invalid_request_error"}, Finding{Failure: Deterministic}},
		{"deterministic by number", FailureInfo{Code: "400"}, Finding{Failure: Deterministic}},
		{"unknown", FailureInfo{Code: "quantum_flux"}, Finding{Failure: Unknown}},
		{"a server's number", FailureInfo{Code: "502", Message: "Provider returned error"}, Finding{Failure: FailedEvent}},
		{"vLLM", FailureInfo{Type: "InternalServerError", Code: "500"}, Finding{Failure: FailedEvent}},
		{"vLLM, deterministic", FailureInfo{Type: "BadRequestError", Code: "400"}, Finding{Failure: Deterministic}},
		{"SGLang", FailureInfo{Type: "internal_server_error", Code: "500"}, Finding{Failure: FailedEvent}},
		{"Gemini", FailureInfo{Code: "503", Type: "unavailable", State: "unavailable"}, Finding{Failure: FailedEvent}},
		{"Gemini, over a limit", FailureInfo{Code: "429", Type: "resource_exhausted", State: "resource_exhausted"}, Finding{Failure: FailedEvent, RateLimit: true}},
		{"Gemini, deterministic", FailureInfo{Code: "400", Type: "invalid_argument", State: "invalid_argument"}, Finding{Failure: Deterministic}},
		{"a relay", FailureInfo{Code: "do_request_failed", Type: "new_api_error"}, Finding{Failure: FailedEvent}},
		{"a relay's empty account", FailureInfo{Code: "insufficient_user_quota", Type: "new_api_error"}, Finding{Failure: Balance}},
		{"status word", FailureInfo{Code: "strange", Type: "odd", State: "overloaded"}, Finding{Failure: FailedEvent}},
		{"status number", FailureInfo{Code: "strange", Status: 502}, Finding{Failure: FailedEvent}},
		{"deterministic status number", FailureInfo{Code: "strange", Status: 400}, Finding{Failure: Deterministic}},
		{"rate limit as a status number", FailureInfo{Status: 429}, Finding{Failure: FailedEvent, RateLimit: true}},
		{"balance as a status number", FailureInfo{Status: 402}, Finding{Failure: Balance}},
		{"a word says more than a status number", FailureInfo{Type: "server_error", Status: 400}, Finding{Failure: FailedEvent}},
		{"a deterministic type says more than one, too", FailureInfo{Type: "invalid_request_error", Status: 500}, Finding{Failure: Deterministic}},
		{"type as a number", FailureInfo{Type: "502"}, Finding{Failure: FailedEvent}},
		{"a provider's own number", FailureInfo{Code: "1210"}, Finding{Failure: Unknown}},
		{"a good status", FailureInfo{Code: "200"}, Finding{Failure: Unknown}},
		{"nothing", FailureInfo{}, Finding{Failure: Unknown}},
		{"unknown, says retryable", FailureInfo{Code: "strange", Retryable: &yes}, Finding{Failure: FailedEvent}},
		{"unknown, says not retryable", FailureInfo{Code: "strange", Retryable: &no}, Finding{Failure: Unknown}},
		{"rate limit, says retryable", FailureInfo{Code: "rate_limit_exceeded", Retryable: &yes}, Finding{Failure: FailedEvent, RateLimit: true}},
		{"a message names what the code does not", FailureInfo{Code: "strange", Message: "insufficient balance"}, Finding{Failure: Unknown}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Event(responses, c.info, nil)
			if got.Failure != c.want.Failure || got.RateLimit != c.want.RateLimit {
				t.Errorf("%s (rate limit %v) by rule %q, want %s (%v)", got.Failure, got.RateLimit, got.Rule, c.want.Failure, c.want.RateLimit)
			}
		})
	}
}

// FuzzBody reads anything and always finds a class.
func FuzzBody(f *testing.F) {
	for _, p := range providers {
		for _, a := range p.answers {
			f.Add([]byte(a.body), a.status)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		info, _ := protocol.ReadFailure(body)
		if got := Status(chat, 100+(status%900+900)%900, info, nil); got.Failure == None || got.Failure == Unknown {
			t.Errorf("status %d: %+v", status, got)
		}
		if got := Event(chat, info, nil); got.Failure == None {
			t.Errorf("event: %+v", got)
		}
	})
}
