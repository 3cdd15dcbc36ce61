package classify

// Rule is one line of knowledge about how providers say a failure. All its
// conditions must hold; the first rule that matches wins.
type Rule struct {
	Name      string
	Protocol  string   // "" any
	From, To  int      // status range, inclusive; 0 any
	Words     []string // lower case; equal to the code or the type
	CodeOnly  bool     // Words are compared with the code alone
	Message   []string // lower case; contained in the message (an alternative to Words)
	Failure   Failure
	RateLimit bool
}

var balanceWords = []string{"insufficient_quota", "insufficient_balance", "insufficient_credits", "billing_hard_limit_reached",
	"billing_not_active", "billing_error", "credit_balance_too_low", "account_deactivated_billing", "quota_exceeded", "payment_required",
	"insufficient_user_quota", "arrearage", "1113", "exceeded_current_quota_error", "no_credits"}

var balanceMessages = []string{"exceeded your current quota", "credit balance is too low", "insufficient balance", "insufficient credits",
	"insufficient quota", "check your plan and billing", "billing hard limit", "used all available credits", "out of credits",
	"account is not active, please check your billing", "requires more credits", "run out of credits", "payment required"}

var overloadWords = []string{"server_is_overloaded", "overloaded_error", "overloaded", "slow_down", "engine_overloaded",
	"engine_overloaded_error", "server_overloaded", "model_overloaded", "capacity_exceeded", "unavailable"}

var rateWords = []string{"rate_limit_exceeded", "rate_limit_error"}

// retryableWords is the contract's list (section 3, Retryable).
var retryableWords = []string{"server_error", "internal_server_error", "api_error", "server_is_overloaded", "overloaded_error",
	"service_unavailable", "service_unavailable_error", "slow_down", "timeout", "vector_store_timeout"}

var deterministicWords = []string{"invalid_request_error", "invalid_prompt", "invalid_request", "context_length_exceeded", "string_above_max_length",
	"content_policy_violation", "content_filter", "responsibleaipolicyviolation", "cyber_policy", "bio_policy", "safety_error", "invalid_base64_image", "invalid_image",
	"invalid_image_format", "invalid_image_mode", "invalid_image_url", "image_too_large", "image_too_small", "image_parse_error",
	"image_content_policy_violation", "image_file_too_large", "image_file_not_found", "image_too_many_pixels", "unsupported_image_media_type",
	"empty_image_file", "failed_to_download_image", "unsupported_parameter", "unsupported_value", "invalid_value", "missing_required_parameter",
	"unknown_parameter", "invalid_type", "invalid_function_parameters", "previous_response_not_found", "request_too_large", "payload_too_large",
	"not_found_error", "model_length_exceeded", "max_tokens_exceeded", "tokens_limit_reached", "invalid_json_schema", "json_validate_failed",
	"tool_use_failed", "bad_request", "bad_request_error", "invalid_argument", "unprocessable_entity", "validation_error"}

var authWords = []string{"invalid_api_key", "authentication_error", "permission_error", "permission_denied", "permissiondenied", "account_deactivated",
	"invalid_authentication", "incorrect_api_key", "api_key_invalid", "organization_restricted", "project_archived", "insufficient_permissions",
	"access_denied", "accessdeniedexception", "account_suspended", "unauthorized", "key_revoked", "invalid_organization"}

var authMessages = []string{"api key", "api-key", "apikey", "your key", "this key", "account", "permission", "credential", "organization", "not authorized to perform"}

// statusRules: an answer with a status, contract section 3, rows 3–7a and 16.
var statusRules = [...]Rule{
	{Name: "402 payment required", From: 402, Failure: Balance},
	{Name: "429 that says the account is empty", From: 429, Words: balanceWords, Message: balanceMessages, Failure: Balance},
	{Name: "403 that says the account is empty", From: 403, Words: balanceWords, Message: balanceMessages, Failure: Balance},
	{Name: "400 that says the account is empty", From: 400, Words: balanceWords, Message: balanceMessages, Failure: Balance},
	{Name: "429 for this request alone", From: 429, Words: []string{"request_too_large", "context_length_exceeded"},
		Message: []string{"request too large", "request is too large", "single request exceeds", "reduce the length of the messages", "input or output tokens must be reduced"}, Failure: Deterministic},
	{Name: "429", From: 429, Failure: RateLimited, RateLimit: true},
	{Name: "401", From: 401, Failure: Auth},
	{Name: "403 that names key, account or permission", From: 403, Words: authWords, Message: authMessages, Failure: Auth},
	{Name: "404 for the model", From: 404, Words: []string{"model_not_found", "deploymentnotfound", "model_not_available", "invalid_model", "nosuchmodel"},
		Message: []string{"model", "deployment"}, Failure: Unfit},
	{Name: "405", From: 405, Failure: Unfit},
	{Name: "426", From: 426, Failure: Unfit},
	{Name: "408", From: 408, Failure: BadAnswer},
	{Name: "425", From: 425, Failure: BadAnswer},
	{Name: "redirect", From: 300, To: 399, Failure: BadAnswer},
	{Name: "503 with an overload code", From: 503, Words: overloadWords, Failure: Overloaded},
	{Name: "529 with an overload code", From: 529, Words: overloadWords, Failure: Overloaded},
	{Name: "5xx", From: 500, To: 599, Failure: Upstream5xx},
	{Name: "other 4xx", From: 400, To: 499, Failure: Deterministic},
	{Name: "2xx with a deterministic error", From: 200, To: 299, Words: deterministicWords, Failure: Deterministic},
	{Name: "2xx that is no answer", From: 100, To: 299, Failure: BadAnswer},
	{Name: "status out of range", From: 600, To: 999, Failure: BadAnswer},
}

// eventRules: a failure event, rows 1, 6, 16 and 16a. A code says more than a
// type, so deterministic codes come before retryable types.
var eventRules = [...]Rule{
	{Name: "balance event", Words: balanceWords, Failure: Balance},
	{Name: "deterministic code", Words: deterministicWords, CodeOnly: true, Failure: Deterministic},
	{Name: "rate limit event", Words: rateWords, Failure: FailedEvent, RateLimit: true},
	{Name: "retryable event", Words: retryableWords, Failure: FailedEvent},
	{Name: "deterministic type", Words: deterministicWords, Failure: Deterministic},
	{Name: "unknown event", Failure: Unknown},
}
