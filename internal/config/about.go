package config

// words are what the page of options says of one that its schema does not know.
type words struct {
	what string // one sentence
	def  string // the default, where it is not a value
	unit string // the kind of value, where the schema says less
	also string // where else it can be set
}

// mirrors are groups of options that repeat others.
var mirrors = [...]struct {
	path, of, about string
	sameDefault     bool // the default is the option that is repeated
}{
	{path: "models[].timers.", of: "timers.", about: "For this model alone, the same as", sameDefault: true},
	{path: "models[].channels[].cost.", of: "models[].price.", about: "What the channel's provider takes from you, in the same form as"},
}

const (
	required   = "required"
	perMillion = "amount in USD per million tokens, in quotes, with at most 9 places"
	perRequest = "amount in USD, in quotes, with at most 9 places"
)

// about has a sentence for every option that repeats no other. A test fails for
// an option without one, and for a sentence without its option.
var about = map[string]words{
	"listen":          {what: "The address and port where clients connect.", also: "a name or 0.0.0.0 is reached from other machines"},
	"tls.cert":        {what: "The file of the certificate (PEM, with its chain) that clients are shown; a new file is taken over while the gateway runs.", def: "none: plain HTTP"},
	"tls.key":         {what: "The file of the certificate's private key (PEM).", def: "none: plain HTTP"},
	"admin.listen":    {what: "The address and port of the admin API and of `/metrics`, for operators only."},
	"admin.token":     {what: "The secret that operators and `rubicon`'s own commands show to the admin API.", def: required},
	"admin.profiling": {what: "Serves Go's profiles below `/debug/pprof/` at the admin address, with the admin token."},

	"store.url":   {what: "The database with customers, keys, money and the record of every request: `sqlite:PATH` for one process, or `postgres://USER:PASSWORD@HOST/DATABASE` for several."},
	"store.sync":  {what: "What a committed transaction survives: `process` a kill -9 of the gateway, `full` a loss of power too, at the price of speed."},
	"store.lease": {what: "How long a gateway process may be silent before another one on the same database takes over its unfinished requests."},
	"store.wait":  {what: "How long a start waits for a database that does not answer, before it gives up with exit code 1."},
	"store.spool": {what: "The folder where ends of requests wait on disk while the database is away.", def: "beside the SQLite file, or where the process runs"},

	"limits.request_body":            {what: "The largest body of a request, after decompression; a larger one gets 413 `payload_too_large`."},
	"limits.event":                   {what: "The largest event of an upstream's stream; a larger one ends the stream as a failure."},
	"limits.held_bytes":              {what: "How much of lifecycle events (events that only say that work began) may be held back per request before they are let go."},
	"limits.atomic_bytes":            {what: "How much of an answer may be held back per request where `delivery` is atomic; a longer one goes on as a stream."},
	"limits.connections":             {what: "How many client connections may be open at once.", unit: "whole number from 1 on"},
	"limits.connections_per_address": {what: "How many client connections one address may have open at once (of IPv6, one network of 64 bits).", def: "0: a quarter of limits.connections; no bound for addresses of the host itself and of private networks"},
	"limits.memory":                  {what: "Bytes of the whole process; near it, new requests get 503 `overloaded` until some have ended.", def: "0: 70 % of what the machine or container has"},

	"cors.origins[]": {what: "The origin or host of web pages that may call the client API from a browser, `*` for any part, like `https://app.example.com`.", def: "none"},

	"ws.enabled":      {what: "Serves the Responses API over WebSocket at `GET /v1/responses`."},
	"ws.message":      {what: "The largest frame of a client; a larger one closes the connection with code 1009."},
	"ws.lifetime":     {what: "How long a connection lives; then it is closed, and clients open another."},
	"ws.queued_turns": {what: "How many further requests may wait on a connection while one runs."},
	"ws.memory":       {what: "How much a connection remembers, so that responses that are stored nowhere can be continued on it."},
	"ws.ping":         {what: "How often an idle connection is asked whether somebody is there; two questions without an answer close it."},
	"ws.origins[]":    {what: "The origin of web pages that may connect although they come from another host, like `https://app.example.com`.", def: "none"},

	"timers.connect":        {what: "How long connecting to an upstream may take, TLS included."},
	"timers.headers":        {what: "For streams, how long an upstream may take from the written request to its status line."},
	"timers.answer":         {what: "For requests that do not stream, how long an upstream may take to its whole answer."},
	"timers.first_event":    {what: "How long an upstream may take from its status line to the first event.", def: "60s, and 300s on Chat unless it is set"},
	"timers.first_output":   {what: "How long an attempt may take from its dispatch to the first output event; 0s sets no bound."},
	"timers.idle":           {what: "How long an opened stream may be silent between two events."},
	"timers.event_hold":     {what: "The longest time that lifecycle events are held back, counted from the first of them; 0s holds none, and so gives up replays of streams that began."},
	"timers.keepalive":      {what: "How often a silent stream gets a comment, so that nobody on the way closes it; 0s sends none."},
	"timers.write":          {what: "How long a client may take nothing of its answer before it is cut off."},
	"timers.total":          {what: "How long a request may take in all, every attempt included."},
	"timers.shutdown_grace": {what: "How long running requests may go on after the gateway was told to end; 0s gives them no time."},

	"replay.max":                 {what: "How many second executions a request may get after a failure before output; 0 turns replays off."},
	"replay.after_lifecycle":     {what: "Also replays a stream that broke off (no failure event, the connection died) after its first lifecycle event."},
	"replay.local_continuations": {what: "Continues responses that are stored nowhere from the memory of their WebSocket connection, with the whole input, so that they can be replayed too."},
	"replay.default_store":       {what: "What a Responses request without `store` means: `upstream` leaves it to the provider, which stores; `false` writes `\"store\": false` into it, which makes it replayable (so in the file of `rubicon init`).", def: "upstream"},
	"state.unknown_ids":          {what: "What happens to ids of responses, files and containers that this gateway did not hand to this customer: they are refused, or passed on (only where all customers are one tenant)."},

	"switch.max":                         {what: "How many times a request may move to another channel after a failure that certainly executed nothing upstream."},
	"switch.on_timeout.responses_stream": {what: "How many of those moves a timeout may cause on streamed Responses, where the first execution may still run."},
	"switch.on_timeout.chat_stream":      {what: "The same on streamed Chat Completions."},
	"switch.on_timeout.messages_stream":  {what: "The same on streamed Messages."},
	"switch.on_timeout.not_streaming":    {what: "The same for requests that do not stream, on every API."},

	"breaker.failures":      {what: "How many failures in a row, inside the window, open the breaker: the channel then gets no traffic."},
	"breaker.window":        {what: "How far apart failures may be to count together."},
	"breaker.rate":          {what: "The share of the window's results that must be failures, so that failures in a row open the breaker; it is asked once the window holds `breaker.samples` results.", unit: "number above 0, at most 1"},
	"breaker.samples":       {what: "How many results the window must hold before `breaker.rate` is asked; as many failures in a row open the breaker in any case."},
	"breaker.open":          {what: "How long an opened breaker stays open before a request probes the channel."},
	"breaker.open_max":      {what: "How long it stays open after each failed probe once the outage is two minutes old."},
	"breaker.probes":        {what: "How many requests may probe a channel at the same time."},
	"breaker.successes":     {what: "How many good probes close the breaker."},
	"cooldown.default":      {what: "How long a credential rests after a 429 whose answer does not say how long; the time doubles up to `cooldown.max` while 429s go on."},
	"cooldown.max":          {what: "The longest rest after a 429, whatever its answer says."},
	"cooldown.wait":         {what: "How long a request may wait for the first route to return where all of them rest after 429s; 0s lets nobody wait."},
	"cooldown.weight_floor": {what: "The share of a candidate's weight that is left however many 429s halved it.", unit: "number above 0, at most 1"},
	"balance_pause":         {what: "How long a credential rests whose upstream account is empty, before one request asks again."},

	"on_disconnect":      {what: "What happens upstream when a client leaves: `cancel` ends the call at once, `drain` reads a stream that gave content on, for two minutes at most, to learn what it used."},
	"delivery":           {what: "How streams are handed over: `stream` as they come, `atomic` only once they are whole, so that one that breaks in the middle can be replayed unseen.", also: "per key (`rubicon key create --delivery`) and per request (header `rubicon-delivery: atomic`) too"},
	"retention.requests": {what: "How long records of requests and alerts are kept; the ledger is never deleted."},
	"alerts.webhook":     {what: "The URL that alerts are sent to; without one they are in the log and at `GET /admin/v1/alerts` only.", def: "none"},
	"alerts.secret":      {what: "The secret that alerts are signed with (docs/alerts.md).", def: "none: not signed"},

	"channels[].name":               {what: "The channel's name, in records, metrics and orders; health is kept by it.", def: required},
	"channels[].protocol":           {what: "Which API the upstream speaks.", def: required},
	"channels[].base_url":           {what: "The upstream's address, with its version: `https://api.openai.com/v1`.", def: required},
	"channels[].credentials[].name": {what: "The name of one of the channel's keys; several are used side by side.", def: required},
	"channels[].credentials[].key":  {what: "The key itself; best as `${NAME}` (an environment variable) or `${file:/path}`.", def: required, unit: "secret text"},
	"channels[].auth":               {what: "The header that carries the key.", def: "x-api-key on Messages, bearer otherwise, none without credentials"},
	"channels[].query.NAME":         {what: "A parameter that is added to every URL, like Azure's `api-version`.", def: "none", unit: "secret text"},
	"channels[].headers.NAME":       {what: "A header that is added to every request.", def: "none", unit: "secret text"},
	"channels[].origin":             {what: "The name of the upstream account: channels with the same one know each other's responses and files.", def: "one account per credential"},
	"channels[].allow_private":      {what: "Lets `base_url` be an address of this machine or of a private network.", def: "false"},
	"channels[].alias":              {what: "What customers see instead of the channel's name.", def: "the name"},
	"channels[].chat_usage":         {what: "On Chat, asks the upstream for usage although the client did not; the chunk with it is then kept from the client."},
	"channels[].rules[].status":     {what: "A condition of a rule that says what this upstream's failures mean (docs/channel-rules.md): the status.", unit: "status or a list of them, from 200 to 599", def: "any"},
	"channels[].rules[].code":       {what: "A condition: the error's code.", def: "any"},
	"channels[].rules[].type":       {what: "A condition: the error's type.", def: "any"},
	"channels[].rules[].message":    {what: "A condition: words of the error's message, `*` for anything between.", def: "any"},
	"channels[].rules[].class":      {what: "What a failure is that meets all conditions of the rule.", def: required},

	"models[].name":                      {what: "The public model: the name that clients ask for.", def: required},
	"models[].price.input":               {what: "What a customer pays for input that was neither read from nor written to a cache.", def: required, unit: perMillion},
	"models[].price.output":              {what: "What a customer pays for output.", def: required, unit: perMillion},
	"models[].price.cached_input":        {what: "What a customer pays for input that was read from a cache.", def: "as input", unit: perMillion},
	"models[].price.cache_write":         {what: "What a customer pays for input that was written to a cache.", def: "as input", unit: perMillion},
	"models[].price.request":             {what: "What a customer pays for each request, beside its tokens.", unit: perRequest},
	"models[].price.tools.NAME":          {what: "What a customer pays for each call of that hosted tool, like `web_search`.", def: "0", unit: perRequest},
	"models[].price.tiers.NAME":          {what: "The factor on the whole sum when the answer reports that service tier, like `priority`.", def: "1"},
	"models[].hold_output_tokens":        {what: "How many output tokens are reserved when a request names no maximum.", unit: "whole number from 1 on"},
	"models[].channels[].channel":        {what: "The name of a channel that serves the model.", def: required},
	"models[].channels[].upstream_model": {what: "What the model is called there.", def: "the public model's name"},
	"models[].channels[].weight":         {what: "The channel's share among those of its priority; 0 gives it no traffic at all."},
	"models[].channels[].priority":       {what: "The order of choice: the lowest number that can serve goes first."},
	"models[].created":                   {what: "The date that `GET /v1/models` tells as the model's `created`; nodes whose copies of the file differ in date should have it.", def: "the date of the configuration's file"},
	"models[].delivery":                  {what: "For this model alone, the same as `delivery`.", def: "as delivery"},
}
