import { randomFrom } from '../../unit/providers/protocols/support/random.ts'
import { inputPrice, maxTokens, outputPrice, promptTokens } from './spending.ts'

/** A provider that bills what it has generated, whether or not anybody received it. */
export type BillingProvider = AsyncDisposable & {
  /** The address that a gateway has as its base URL. */
  readonly url: string
  /** USD for all calls that it has finished. */
  billed(): number
  /** The calls that it received. */
  received(): number
  /** The calls that it generates now. */
  open(): number
}

/** Milliseconds that a call takes, at random. */
const [shortest, longest] = [50, 400]

/** Starts the provider on this port of loopback; 0 is any free one. */
export function startBillingProvider(port = 0): BillingProvider {
  const draw = randomFrom('overspend')
  let [billed, received, open] = [0, 0, 0]

  async function generate(stream: boolean): Promise<Response> {
    const completionTokens = Math.ceil(maxTokens * (0.1 + 0.9 * draw()))
    received++
    open++
    await Bun.sleep(shortest + draw() * (longest - shortest))
    open--
    billed += (promptTokens * inputPrice + completionTokens * outputPrice) / 1e6
    const usage = {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    }
    return stream ? streamed(usage) : Response.json(completion(usage))
  }

  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      if (request.method !== 'POST') return Response.json({ object: 'list', data: [] })
      const { stream = false } = (await request.json()) as { readonly stream?: boolean }
      return await generate(stream)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    billed: () => billed,
    received: () => received,
    open: () => open,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

const head = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'river-1' }

function completion(usage: object): object {
  const message = { role: 'assistant', content: 'Four metres.' }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  return { ...head, object: 'chat.completion', choices, usage }
}

function streamed(usage: object): Response {
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const chunks = [
    chunk({ role: 'assistant', content: 'Four metres.' }, null),
    chunk({}, 'stop'),
    { ...head, object: 'chat.completion.chunk', choices: [], usage },
  ]
  const text = [...chunks.map((value) => JSON.stringify(value)), '[DONE]']
  return new Response(text.map((data) => `data: ${data}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  })
}
