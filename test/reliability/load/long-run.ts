import { createGatewayProcess } from '../money/support/gateway-process.ts'
import { pricing } from '../../support/billing-scenario.ts'
import { firstKey } from '../../support/app.ts'
import { chunks, delta, doneFrame } from '../../support/chat-fixtures.ts'
import { readEvents } from '../../support/responses.ts'
import { createUpstream } from '../../support/upstream.ts'

/** How many chunks of text a run has. */
export const words = 5000

/** The headers of the first key. */
export const headers = { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' }

/** Starts a run that emits all of its chunks when its gate is opened, each with this many characters. */
export async function startRun(characters: number) {
  const gate = Promise.withResolvers<void>()
  const pieces = Array.from({ length: words }, (_, index) =>
    delta({ content: ` word${index % 10}`.padEnd(characters, '.') }),
  )
  const upstream = await createUpstream(
    chunks([delta({ role: 'assistant' }), gate.promise, ...pieces, delta({}, 'stop'), doneFrame]),
  )
  const gateway = await createGatewayProcess(upstream.url, pricing)
  await gateway.start()
  const body = JSON.stringify({ model: 'acme/river', input: 'Tell all.', background: true })
  const reply = await fetch(`${gateway.url()}/v1/responses`, { method: 'POST', headers, body })
  const path = `/v1/responses/${((await reply.json()) as { id: string }).id}?stream=true`
  await upstream.request(0)
  return {
    gateway,
    path,
    open: gate.resolve,
    follow: async () => await readEvents(await fetch(gateway.url() + path, { headers })),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}
