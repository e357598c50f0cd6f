import { randomText } from '../../../src/lib/id.ts'
import { type Fields, listOf } from '../../../src/lib/json/json.ts'

/** The protocol of a provider that reasons before every step and requires its reasoning back. */
export type LoopProtocol = {
  readonly kind: string
  readonly model: string
  /** The number of model steps in the conversation. */
  steps(body: Fields): number
  /** The error for a conversation whose reasoning is missing or foreign; undefined for a valid one. */
  rejection(body: Fields, issued: ReadonlySet<string>): Fields | undefined
  /** The response of this step, with this signature. */
  whole(step: Step, signature: string): object
  /** The same as the data of a stream. */
  frames(step: Step, signature: string): readonly (object | '[DONE]')[]
}

/** Two calls at once, then one, then the last word. */
export type Step = { readonly calls: readonly StepCall[]; readonly text: string }
export type StepCall = { readonly name: string; readonly arguments: object }

const call = (name: string, river: string): StepCall => ({ name, arguments: { river } })
const steps: readonly Step[] = [
  { calls: [call('read_level', 'Elbe'), call('read_level', 'Rhine')], text: '' },
  { calls: [call('open_gate', 'Elbe')], text: '' },
  { calls: [], text: 'The gate is open.' },
]

/** A provider on loopback that refuses as the real one does. */
export type LoopProvider = {
  readonly url: string
  /** The bodies of its requests, those that it refused too. */
  readonly requests: readonly Fields[]
  /** Every signature that it has given. */
  readonly issued: ReadonlySet<string>
  [Symbol.dispose](): void
}

/** Starts one. */
export function startLoopProvider(protocol: LoopProtocol): LoopProvider {
  const requests: Fields[] = []
  const issued = new Set<string>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = (await request.json()) as Fields
      requests.push(body)
      const refusal = protocol.rejection(body, issued)
      if (refusal) return Response.json(refusal, { status: 400 })
      const step = steps[protocol.steps(body)] ?? steps[2]
      if (!step) throw new Error('There is no such step.')
      const signature = `c2ln${randomText(20)}`
      issued.add(signature)
      const streams = body.stream === true || request.url.includes(':streamGenerateContent')
      return streams
        ? stream(protocol.frames(step, signature))
        : Response.json(protocol.whole(step, signature))
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  return { url, requests, issued, [Symbol.dispose]: () => void server.stop(true) }
}

function stream(frames: readonly (object | string)[]): Response {
  const text = frames.map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
  return new Response(text.join(''), { headers: { 'content-type': 'text/event-stream' } })
}

/** The objects in this list. */
export function objectsIn(list: unknown): readonly Fields[] {
  return listOf(list) as readonly Fields[]
}
