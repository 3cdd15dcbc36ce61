// Talks to a gateway with openai's WebSocket class: two turns, the second of
// which continues the first, and a third one that the provider cuts. Arguments:
// URL, key, model. Writes one line of JSON for each turn:
//
//   {"id", "text", "status", "errors": [{"code", "status"}]}
//
// It asserts nothing; the Go test does.

import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'

const [url, key, model] = process.argv.slice(2)
const ws = new ResponsesWS(new OpenAI({ baseURL: url + '/v1', apiKey: key }), { perMessageDeflate: true })

function turn(input, previous) {
  return new Promise((resolve) => {
    const seen = { id: '', text: '', status: '', errors: [] }
    const on = {
      'response.output_text.delta': (ev) => { seen.text += ev.delta },
      'response.completed': (ev) => { Object.assign(seen, { id: ev.response.id, status: ev.response.status }); end() },
      error: (e) => { seen.errors.push({ message: e.message, code: e.error?.code ?? e.error?.error?.code, status: e.error?.status }); end() },
    }
    // A second ending of the same turn would come at once.
    const end = () => setTimeout(() => {
      for (const name in on) ws.off(name, on[name])
      process.stdout.write(JSON.stringify(seen) + '\n')
      resolve(seen)
    }, 50)
    for (const name in on) ws.on(name, on[name])
    ws.send({ type: 'response.create', model, input, store: false, previous_response_id: previous })
  })
}

const first = await turn('One?')
const second = await turn('Two?', first.id)
await turn('Three?', second.id)
ws.close()
