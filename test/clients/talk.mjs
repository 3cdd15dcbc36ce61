// Talks to a gateway with the official SDKs as an application would, and tells
// what the application saw. Reads a list of jobs as JSON from standard input,
// writes one line of JSON for each:
//
//   {"name", "client", "action", "url", "key", "model", "retries"}
//   {"name", "text", "finish", "error": null | {…}}
//
// It asserts nothing; the Go tests do.

const PROMPT = 'What was cast?'

// told reduces the errors of all SDKs to the same fields.
function told(e) {
  const last = e.lastError ?? e // ai: RetryError
  const body = last.data?.error ?? last.error?.error ?? last.error ?? last.cause?.error ?? {}
  const header = (name) => last.headers?.get?.(name) ?? last.responseHeaders?.[name] ?? null
  return {
    name: e.name, kind: e.constructor?.name, message: String(e.message), status: last.status ?? last.statusCode ?? null,
    code: last.code ?? body.code ?? null, type: last.type ?? body.type ?? null,
    retry_after_header: header('retry-after'), should_retry: header('x-should-retry'), request_id: header('x-request-id'),
    retry_after: body.retry_after ?? null, after_output: body.after_output ?? null, retryable: body.retryable ?? null,
  }
}

const clients = {
  async openai(job, seen) {
    const { default: OpenAI } = await import('openai')
    const api = new OpenAI({ baseURL: job.url + '/v1', apiKey: job.key, maxRetries: job.retries })
    const responses = { model: job.model, input: PROMPT, max_output_tokens: 64, store: job.store ?? false }
    const chat = { model: job.model, messages: [{ role: 'user', content: PROMPT }], max_completion_tokens: 64 }
    return {
      async 'responses-stream'() {
        for await (const ev of await api.responses.create({ ...responses, stream: true })) {
          seen.events++
          if (ev.type === 'response.output_text.delta') seen.text += ev.delta
          if (ev.type === 'response.completed') seen.finish = ev.response.status
        }
      },
      async 'responses-fetch'() {
        const r = await api.responses.create(responses)
        seen.text = r.output_text
        seen.finish = r.status
      },
      async 'chat-stream'() {
        for await (const ev of await api.chat.completions.create({ ...chat, stream: true })) {
          seen.events++
          seen.text += ev.choices[0]?.delta?.content ?? ''
          seen.finish = ev.choices[0]?.finish_reason ?? seen.finish
        }
      },
      async 'chat-fetch'() {
        const r = await api.chat.completions.create(chat)
        seen.text = r.choices[0].message.content
        seen.finish = r.choices[0].finish_reason
      },
    }
  },

  async anthropic(job, seen) {
    const { default: Anthropic } = await import('@anthropic-ai/sdk')
    const api = new Anthropic({ baseURL: job.url, apiKey: job.key, maxRetries: job.retries })
    const body = { model: job.model, max_tokens: 64, messages: [{ role: 'user', content: PROMPT }] }
    return {
      async 'messages-stream'() {
        const stream = api.messages.stream(body)
        stream.on('text', (t) => { seen.text += t })
        seen.finish = (await stream.finalMessage()).stop_reason
      },
      async 'messages-raw'() {
        for await (const ev of await api.messages.create({ ...body, stream: true })) {
          seen.events++
          if (ev.type === 'content_block_delta' && ev.delta.type === 'text_delta') seen.text += ev.delta.text
          if (ev.type === 'message_stop') seen.finish = 'end_turn'
        }
      },
      async 'messages-fetch'() {
        const r = await api.messages.create(body)
        seen.text = r.content.map((b) => b.text ?? '').join('')
        seen.finish = r.stop_reason
      },
    }
  },

  async ai(job, seen) {
    const { streamText, generateText } = await import('ai')
    const { createOpenAI } = await import('@ai-sdk/openai')
    const provider = createOpenAI({ baseURL: job.url + '/v1', apiKey: job.key })
    const stream = (model) => async () => {
      const r = streamText({ model, prompt: PROMPT, maxOutputTokens: 64, maxRetries: job.retries, onError() {},
        providerOptions: { openai: { store: job.store ?? false } } })
      for await (const part of r.fullStream) {
        seen.events++
        if (part.type === 'text-delta') seen.text += part.text ?? part.delta
        if (part.type === 'finish') seen.finish = part.finishReason
        if (part.type === 'error') throw part.error
      }
    }
    const generate = (model) => async () => {
      const r = await generateText({ model, prompt: PROMPT, maxOutputTokens: 64, maxRetries: job.retries,
        providerOptions: { openai: { store: job.store ?? false } } })
      seen.text = r.text
      seen.finish = r.finishReason
    }
    return {
      'responses-stream': stream(provider.responses(job.model)), 'responses-fetch': generate(provider.responses(job.model)),
      'chat-stream': stream(provider.chat(job.model)), 'chat-fetch': generate(provider.chat(job.model)),
    }
  },
}

async function run(job) {
  const seen = { name: job.name, text: '', finish: null, events: 0, error: null }
  try {
    await (await clients[job.client](job, seen))[job.action]()
  } catch (e) {
    // Some SDKs throw plain objects.
    seen.error = e instanceof Error ? told(e) : { name: 'thrown', message: JSON.stringify(e), code: e?.error?.code ?? e?.code ?? null, after_output: e?.error?.after_output ?? null }
  }
  process.stdout.write(JSON.stringify(seen) + '\n')
}

let input = ''
for await (const chunk of process.stdin) input += chunk
await Promise.all(JSON.parse(input).map(run))
