import { expect, test } from 'bun:test'
import OpenAI from 'openai'
import { cancelledRun, gatedReply, queueRun, startRun, waitForRun } from '../support/background.ts'
import { chunks, delta, doneFrame, jsonReply, usage } from '../support/chat-fixtures.ts'
import { createResponse } from '../support/responses.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { json, type Script } from '../support/script.ts'
import { startReceiver, webhookSecret } from '../support/webhook-receiver.ts'

const openai = new OpenAI({ apiKey: 'not-used', webhookSecret })

const truncated = chunks([
  delta({ content: 'It is ' }),
  delta({}, 'length'),
  { choices: [], usage },
  doneFrame,
])

const ended = async ({ app }: Scenario) => {
  const { id } = await queueRun(app)
  await waitForRun(app, id)
  return id
}

const cancelled = async (scenario: Scenario) => {
  const id = await startRun(scenario)
  await cancelledRun(scenario.app, id)
  return id
}

const runs: readonly (readonly [string, Script, (scenario: Scenario) => Promise<string>])[] = [
  ['response.completed', gatedReply(Promise.resolve()), ended],
  ['response.incomplete', truncated, ended],
  ['response.failed', json({ error: { message: 'Down.' } }, { status: 400 }), ended],
  ['response.cancelled', gatedReply(new Promise(() => {})), cancelled],
]

test.each(runs)(
  'a background run ends with the event %s, which the OpenAI client unwraps',
  async (type, script, run) => {
    await using receiver = startReceiver([], {
      events: ['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'],
    })
    await using scenario = await startScenario(script, { settings: { webhooks: [receiver.settings] } })
    const id = await run(scenario)
    const [webhook] = await receiver.waitFor(1)
    const event = await openai.webhooks.unwrap(webhook?.body ?? '', webhook?.headers ?? {})
    expect<unknown>(event).toEqual({
      id: expect.stringMatching(/^evt_/),
      object: 'event',
      created_at: expect.any(Number),
      type,
      data: { id },
    })
    const forged = openai.webhooks.unwrap((webhook?.body ?? '').replace(id, 'resp_1'), webhook?.headers ?? {})
    await expect(forged).rejects.toThrow('signature')
  },
)

test('a response that is not a background run is no event', async () => {
  await using receiver = startReceiver()
  await using scenario = await startScenario([jsonReply(), gatedReply(Promise.resolve())], {
    settings: { webhooks: [receiver.settings] },
  })
  await createResponse(scenario.app)
  const id = await ended(scenario)
  await receiver.waitFor(1)
  expect(receiver.received.map(({ event }) => event.data)).toEqual([{ id }])
})
