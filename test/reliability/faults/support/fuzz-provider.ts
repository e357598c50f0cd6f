import { completionOf, framesOf, chatOutput } from '../../../support/chat-fixtures.ts'
import { protocolFixtures } from './protocol-fixtures.ts'

/** The models behind it: one on each wire. */
export const fuzzModels = ['acme/river', 'acme/sea', 'acme/lake', 'acme/dam'] as const

/** A provider that responds to any request in every protocol, and the settings for it. */
export function startFuzzProvider() {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: providerReply })
  const url = server.url.href
  const settings = {
    providers: {
      river: { kind: 'vllm', base_url: `${url}v1` },
      sea: { kind: 'anthropic', base_url: url.slice(0, -1), api_key: 'sk-provider-sea' },
      lake: { kind: 'gemini', base_url: `${url}v1beta`, api_key: 'sk-provider-lake' },
      dam: { kind: 'openai', api: 'responses', base_url: `${url}v1`, api_key: 'sk-provider-dam' },
      echo: { kind: 'echo' },
    },
    models: fuzzModels.map((slug) => ({
      slug,
      pricing: { input: 1, output: 2 },
      max_output_tokens: 1000,
      routes: [{ provider: slug.slice('acme/'.length), model: 'river-1' }],
    })),
  }
  return { settings, [Symbol.asyncDispose]: () => server.stop(true) }
}

/** Throws, and so fails the call, where what it was sent is no JSON. */
async function providerReply(request: Request): Promise<Response> {
  const { stream } = (await request.json()) as { readonly stream?: boolean }
  const path = new URL(request.url).pathname
  if (path.endsWith('/messages')) return reply(stream, protocolFixtures[1]!.complete, spoken)
  if (path.endsWith('/responses')) return reply(false, JSON.stringify(response))
  if (path.includes('/models/')) return reply(false, JSON.stringify(candidate))
  return reply(stream, JSON.stringify(completionOf(chatOutput())), framesOf(chatOutput()).join(''))
}

function reply(stream: boolean | undefined, complete: string, frames = ''): Response {
  const type = stream ? 'text/event-stream' : 'application/json'
  return new Response(stream ? frames : complete, { headers: { 'content-type': type } })
}

const spoken = [...protocolFixtures[1]!.firstFrames, ...protocolFixtures[1]!.lastFrames].join('')

const candidate = {
  candidates: [
    { index: 0, content: { role: 'model', parts: [{ text: 'It is four metres.' }] }, finishReason: 'STOP' },
  ],
  usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 5, totalTokenCount: 17 },
}

const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'It is four metres.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 12, output_tokens: 5, total_tokens: 17 },
}
