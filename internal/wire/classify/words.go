package classify

// The lists that the rules are made of, all in lower case. Words are compared
// with code and type, messages are patterns (see fits).

// balanceWords say that the account is empty.
var balanceWords = []string{"insufficient_quota", "insufficient_balance", "insufficient_credits", "insufficient_funds", "billing_hard_limit_reached",
	"billing_not_active", "billing_error", "credit_balance_too_low", "account_deactivated_billing", "quota_exceeded", "payment_required",
	"insufficient_user_quota", "pre_consume_token_quota_failed", "arrearage", "1113", "exceeded_current_quota_error", "no_credits",
	"spend_limit_reached", "blocked_api_access", "billing_disabled"}

var balanceMessages = []string{"exceeded your current quota", "balance is too low", "insufficient balance", "insufficient account balance",
	"insufficient credit", "insufficient quota", "insufficient funds", "insufficient user quota", "balance is insufficient", "balance insufficient",
	"balance is not enough", "not enough balance", "not enough credits", "negative balance", "billing hard limit", "used all available credits",
	"out of credits", "run out of credits", "requires more credits", "have any credits", "has no credits", "no credits left", "no credits remaining",
	"credits are depleted", "credits*exhausted", "check your billing details", "billing to be enabled", "billing account*disabled", "payment required",
	"reached your specified api usage limits", "reached its spend limit", "monthly spending limit", "key limit exceeded", "quota is not enough",
	"quota not enough", "额度不足", "余额不足", "欠费"}

// meteredMessages are rate limits that speak like an empty account: Google says
// "exceeded your current quota, please check your plan and billing details" for
// every request over a limit per minute, and adds which one.
var meteredMessages = []string{"quota exceeded for metric", "quota exceeded for quota metric", "quota exceeded for aiplatform", "please retry in "}

// requestTooLargeMessages say that this request is over the limit by itself.
var requestTooLargeMessages = []string{"request too large", "request is too large", "single request exceeds", "reduce the length of the messages",
	"input or output tokens must be reduced", "reduce your message size"}

// overloadWords say that a request was turned away, not executed.
var overloadWords = []string{"server_is_overloaded", "overloaded_error", "overloaded", "slow_down", "slowdown", "engine_overloaded", "engineoverloaded",
	"engine_overloaded_error", "server_overloaded", "service_overloaded", "model_overloaded", "modeloverloaded", "capacity_exceeded", "nocapacity",
	"no_capacity", "server_busy", "serverbusy", "throttlingexception"}

// ambiguousWords say that something is not available; only with one of
// turnedAwayMessages is it certain that the request was turned away.
var ambiguousWords = []string{"unavailable", "unavailable_error", "service_unavailable", "service_unavailable_error", "serviceunavailable",
	"the service is currently unavailable", "serviceunavailableexception", "api_error"}

var notExecutedMessages = []string{"overloaded", "at capacity", "over capacity", "too busy", "server busy", "loading model", "pending requests exceeded"}

// rateWords are those of docs/contract.md#s3-retryable; meteredWords are further ones.
// As events those cool the route, but nothing is run again for them, because
// only the words of that list are retryable.
var rateWords = []string{"rate_limit_exceeded", "rate_limit_error", "rate_limit"}

var moreRateWords = []string{"resource_exhausted", "too_many_requests", "ratelimitreached", "throttlingexception"}

// retryableWords is the list of docs/contract.md#s3-retryable.
var retryableWords = []string{"server_error", "internal_server_error", "api_error", "server_is_overloaded", "overloaded_error",
	"service_unavailable", "service_unavailable_error", "slow_down", "timeout", "vector_store_timeout", "timeout_error", "internal_error",
	"internalservererror", "overloaded", "upstream_error", "bad_gateway", "gateway_timeout", "unavailable", "new_api_error"}

var deterministicWords = []string{"invalid_request_error", "invalid_prompt", "invalid_request", "context_length_exceeded", "exceed_context_size_error",
	"string_above_max_length", "content_policy_violation", "content_filter", "responsibleaipolicyviolation", "cyber_policy", "bio_policy",
	"safety_error", "data_inspection_failed", "sensitive_words_detected", "invalid_base64_image", "invalid_image",
	"invalid_image_format", "invalid_image_mode", "invalid_image_url", "image_too_large", "image_too_small", "image_parse_error",
	"image_content_policy_violation", "image_file_too_large", "image_file_not_found", "image_too_many_pixels", "unsupported_image_media_type",
	"empty_image_file", "failed_to_download_image", "unsupported_parameter", "unsupported_value", "invalid_value", "missing_required_parameter",
	"unknown_parameter", "invalid_type", "invalid_function_parameters", "previous_response_not_found", "request_too_large", "payload_too_large",
	"not_found_error", "model_length_exceeded", "max_tokens_exceeded", "tokens_limit_reached", "invalid_json_schema", "json_validate_failed",
	"tool_use_failed", "bad_request", "bad_request_error", "badrequesterror", "validationexception", "invalid_argument", "failed_precondition",
	"unprocessable_entity", "validation_error"}

// policyWords and policyMessages say that the request's content, or where it
// comes from, is refused: nothing about the credential, whatever else the
// message names.
var policyWords = []string{"unsupported_country_region_territory", "request_forbidden", "content_policy_violation", "content_filter",
	"responsibleaipolicyviolation", "safety_error", "cyber_policy", "bio_policy", "image_content_policy_violation", "prohibited_content",
	"moderation", "sensitive_words_detected", "data_inspection_failed"}

var policyMessages = []string{"violates usage guidelines", "violates our", "violate our", "violating our", "content policy", "content polic*violat",
	"usage polic*violat", "content management policy", "content filter", "flagged for", "input was flagged", "prompt was flagged",
	"content was flagged", "requires moderation", "safety system", "safety check", "country, region, or territory", "location is not supported"}

// revokedWords and deadMessages say that the account or key itself is shut: they
// count even in the company of policy words.
var revokedWords = []string{"account_deactivated", "account_suspended", "account_disabled", "access_terminated", "key_revoked", "invalid_api_key",
	"api_key_invalid", "incorrect_api_key", "organization_restricted", "project_archived"}

var revokedMessages = []string{"account*suspended", "account*deactivated", "account*terminated", "account*disabled", "your account*flagged",
	"consumer*suspended", "your access was terminated", "account associated with this api key", "api key*leaked", "api key*blocked",
	"api key*revoked", "organization has been disabled", "organization has been restricted"}

var authWords = []string{"authentication_error", "permission_error", "permissions_error", "permission_denied", "permissiondenied",
	"invalid_authentication", "insufficient_permissions", "insufficient_permission", "missing_scope", "access_denied", "accessdenied",
	"accessdeniedexception", "unrecognizedclientexception", "invalidsignatureexception", "expiredtokenexception", "missingauthenticationtokenexception",
	"unauthorized", "unauthenticated", "invalid_organization", "invalid_token", "token_expired"}

var authMessages = []string{"api key", "api-key", "api_key", "apikey", "subscription key", "access key", "your key|", "this key|", "the key|",
	"|key is|", "|key was|", "|key has|", "|key does|", "|key not", "|key expired", "invalid key|", "security token", "access token", "invalid token", "token is invalid", "token*expired", "your account", "this account",
	"account is|", "account has|", "account was|", "account does|", "account not", "permission", "credential", "your organization",
	"this organization", "organization is", "organization has", "not authorized to perform", "unregistered callers"}

// refusedKeyMessages are failures of the key that some providers tell with 400. They
// are tied to the message's start, where no quotation of the request stands.
var refusedKeyMessages = []string{"^incorrect api key", "^invalid api key", "^api key not valid", "^api key expired", "^api key not found",
	"^please pass a valid api key", "^this organization has been disabled", "^organization has been restricted"}

// unknownModelWords say that the channel does not serve this model.
var unknownModelWords = []string{"model_not_found", "deploymentnotfound", "model_not_available", "invalid_model", "nosuchmodel", "model_not_supported",
	"unsupported_model", "model_decommissioned", "model_permission_blocked_project", "model_permission_blocked_org"}

var missingMessages = []string{"model*does not exist", "model not exist", "model*not found", "model*is not available", "model*not supported",
	"model is only supported in", "model*decommissioned", "model*deprecated", "no such model", "unknown model", "^model:", "not a chat model",
	"deployment*does not exist", "deployment*not found", "no endpoints found", "no allowed providers"}

// closedModelMessages say, with 403, that this one model is closed to the account.
var closedModelMessages = []string{"access to model", "access to the model", "access to this model", "model access is denied", "must be verified to use the model",
	"no access to model", "无权访问模型"}

// notModelMessages begin a 404 for something else than the model.
var notModelMessages = []string{"^item", "^file", "^no file", "^no such file", "^vector store", "^response", "^previous response", "^conversation",
	"^container", "^prompt", "^batch", "^no response", "^invalid url", "^the requested resource"}
