import { expect, test } from 'bun:test'
import { firstKey } from '../../support/app.ts'
import { chunks, delta, chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { breakOff, events, json, reset, type Script, silence } from '../../support/script.ts'

const prompt = 'canary-of-the-prompt'
const reply = 'canary-of-the-answer'
const providerSecret = 'sk-canary-of-the-provider'
const organization = 'org-canaryOfTheAccount'

const complaint = { error: { message: `Key ${providerSecret} of ${organization} failed at ${prompt}.` } }
const refusals = [400, 401, 403, 404, 413, 429, 500, 529].map((status) => json(complaint, { status }))

const scripts: readonly Script[] = [
  ...refusals,
  jsonReply(chatOutput({ text: [reply] })),
  streamReply(chatOutput({ text: [reply] })),
  chunks([delta({ content: reply }), complaint]),
  chunks([delta({ content: reply })], breakOff),
  events([`data: ${JSON.stringify(complaint)}\n\n`]),
  events([`data: ${reply} is not JSON\n\n`]),
  json(`${reply} is not JSON`),
  json(complaint),
  reset,
  silence,
]

/** Everything that goes wrong and right, and what the gateway said of it: to the caller and to the log. */
async function sayEverything({ app, acme }: Scenario) {
  const replies: string[] = []
  const messages = [{ role: 'user', content: prompt }]
  for (const script of scripts) {
    for (const stream of [false, true]) {
      acme.respondWith(script)
      const response = await app.chat({ model: 'acme/river', messages, stream, user: prompt })
      replies.push(JSON.stringify(response.headers.toJSON()) + (await response.text()))
    }
  }
  for (const body of [
    `{"${prompt}`,
    { model: 'acme/river', messages: prompt },
    { model: 'no/model', messages },
  ]) {
    const response = await app.request('/v1/chat/completions', { method: 'POST', body })
    replies.push(await response.text())
  }
  return { replies: replies.join('\n'), log: app.lines.join('\n') }
}

test('keys, prompts and outputs never appear in the log, nor provider internals in a reply', async () => {
  await using scenario = await startScenario([], {
    provider: { api_key: providerSecret, timeouts: { first_byte: '500ms' } },
    settings: { breaker: { failures: 1000, cooldown: '1s' } },
  })
  const { replies, log } = await sayEverything(scenario)
  expect(scenario.acme.requests[0]?.headers.get('authorization')).toBe(`Bearer ${providerSecret}`)
  expect(replies).toContain(reply)
  expect(scenario.app.lines.length).toBeGreaterThan(20)
  for (const secret of [prompt, reply, providerSecret, organization, firstKey, firstKey.slice(-20)])
    expect([secret, log.includes(secret)]).toEqual([secret, false])
  for (const secret of [providerSecret, organization, firstKey, new URL(scenario.acme.url).host])
    expect([secret, replies.includes(secret)]).toEqual([secret, false])
})

test('each line of the log is an object with its time, its level and its message', async () => {
  await using scenario = await startScenario(json(complaint, { status: 500 }))
  const response = await scenario.app.chat({
    model: 'acme/river',
    messages: [{ role: 'user', content: prompt }],
  })
  expect(scenario.app.lines.map((line) => JSON.parse(line))).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      level: 'error',
      message: 'A request failed.',
      request: response.headers.get('x-request-id'),
      status: 502,
      code: 'upstream_unavailable',
      client_message: expect.stringContaining('acme'),
    },
  ])
})
