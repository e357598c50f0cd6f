import { describe, expect, test } from 'bun:test'
import type { Route } from '../../../src/config/model-details.ts'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { chatOutput, jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import { readCompletion, readError, readStreamed } from '../../support/chat-reply.ts'
import { chatRequest, type Scenario, type ScenarioOptions, startScenario } from '../../support/scenario.ts'
import { json, type Script, silence } from '../../support/script.ts'

type Kinds = NonNullable<Route['on']>

/** Two routes, of which the first has these settings; the second replies. */
function scenario(
  script: Script,
  first: Partial<Route>,
  { second = {}, ...options }: ScenarioOptions & { readonly second?: Partial<Route> } = {},
): Promise<Scenario> {
  return startScenario(script, {
    other: [jsonReply()],
    ...options,
    model: { routes: routesOf(first, second) },
  })
}

function routesOf(first: Partial<Route>, second: Partial<Route> = {}): Route[] {
  return [
    { provider: 'acme', model: 'river-1', ...first },
    { provider: 'other', model: 'river-2', ...second },
  ]
}

const failed = (status: number, code?: string, message = 'No.') =>
  json({ error: { message, code: code ?? null } }, { status })

const tooLong = failed(400, 'context_length_exceeded', "This model's maximum context length is 8192 tokens.")
const filtered = failed(400, 'content_filter', 'The content management policy was triggered.')

/** How often the two routes were called. */
const calls = ({ acme, other }: Scenario) => [acme.requests.length, other.requests.length]

const failures: readonly (readonly [kind: Kinds[number], script: Script, code: string])[] = [
  ['unavailable', failed(503), 'upstream_unavailable'],
  ['unavailable', failed(401), 'provider_key_rejected'],
  ['unavailable', failed(402), 'provider_quota_exhausted'],
  ['unavailable', failed(404), 'upstream_model_not_found'],
  ['rate_limited', failed(429), 'upstream_rate_limited'],
  ['timeout', silence, 'upstream_timeout'],
  ['context_length', tooLong, 'context_length_exceeded'],
]
const all: Kinds = ['unavailable', 'rate_limited', 'timeout', 'context_length']
/** The first route is silent where it fails by a timeout; otherwise a slow machine has all the time it needs. */
const timeoutsFor = (kind: Kinds[number]): ScenarioOptions =>
  kind === 'timeout' ? { acme: { timeouts: { first_byte: '2s' } } } : {}

describe.each(failures)('a failure of the kind %s', (kind, script, code) => {
  test(`is followed by the next route where "on" has it: ${code}`, async () => {
    await using routed = await scenario(script, { on: [kind] }, timeoutsFor(kind))
    const reply = await readCompletion(await routed.app.chat(chatRequest))
    expect([reply.provider, calls(routed)]).toEqual(['other', [1, 1]])
  })

  test(`is returned where "on" does not have it: ${code}`, async () => {
    const on = all.filter((other) => other !== kind)
    await using routed = await scenario(script, { on }, timeoutsFor(kind))
    expect((await readError(await routed.app.chat(chatRequest))).code).toBe(code)
    expect(calls(routed)).toEqual([1, 0])
  })
})

test('a route that is not left for a failure is still tried again', async () => {
  const settings = { retries: { attempts: 2 } }
  await using routed = await scenario(failed(503), { on: [] }, { settings })
  expect((await routed.app.chat(chatRequest)).status).toBe(502)
  expect(calls(routed)).toEqual([3, 0])
})

test('the circuit of a route that is not left for its failures does not open', async () => {
  const settings = { breaker: { failures: 1 } }
  await using routed = await scenario(failed(503), { on: ['rate_limited'] }, { settings })
  for (const _ of [1, 2, 3]) expect((await routed.app.chat(chatRequest)).status).toBe(502)
  expect(calls(routed)).toEqual([3, 0])
})

test('what a content filter has rejected is sent to no other route', async () => {
  await using routed = await scenario(filtered, { on: all })
  expect((await readError(await routed.app.chat(chatRequest))).code).toBe('content_filter')
  expect(calls(routed)).toEqual([1, 0])
})

describe('a prompt that the provider rejects as too long', () => {
  test('goes to a larger route at once, also as a stream', async () => {
    const settings = { retries: { attempts: 5 } }
    const options = { settings, other: [streamReply()], second: { context_window: 128_000 } }
    await using routed = await scenario(tooLong, { on: all, context_window: 8192 }, options)
    const reply = await readStreamed(await routed.app.chat({ ...chatRequest, stream: true }))
    expect([reply.done, calls(routed)]).toEqual([true, [1, 1]])
  })

  test.each([8192, 4096])(
    'does not go to a route with a window of %d, which is not larger',
    async (window) => {
      const first = { on: all, context_window: 8192 }
      await using routed = await scenario(tooLong, first, { second: { context_window: window } })
      expect(await readError(await routed.app.chat(chatRequest))).toMatchObject({
        status: 400,
        code: 'context_length_exceeded',
        message: "This model's maximum context length is 8192 tokens.",
      })
      expect(calls(routed)).toEqual([1, 0])
    },
  )

  test('is the error of the last route if none holds it', async () => {
    const larger = failed(400, 'context_length_exceeded', 'The maximum context length is 16384 tokens.')
    await using routed = await scenario(tooLong, { on: all }, { other: [larger], second: { on: all } })
    const error = await readError(await routed.app.chat(chatRequest))
    expect(error).toMatchObject({ status: 400, message: 'The maximum context length is 16384 tokens.' })
    expect(calls(routed)).toEqual([1, 1])
  })

  test('is no failure of the route', async () => {
    const settings = { breaker: { failures: 1 } }
    await using routed = await scenario(tooLong, { on: all }, { settings })
    for (const _ of [1, 2]) expect((await routed.app.chat(chatRequest)).status).toBe(200)
    expect(calls(routed)).toEqual([2, 2])
  })
})

test('a prompt with more words than the window of a route is never sent there', async () => {
  const long = { ...chatRequest, messages: [{ role: 'user', content: 'word '.repeat(101) }] }
  const sizes = { second: { context_window: 1000 } }
  await using routed = await scenario(jsonReply(), { on: all, context_window: 100 }, sizes)
  expect((await readCompletion(await routed.app.chat(long))).provider).toBe('other')
  expect((await readCompletion(await routed.app.chat(chatRequest))).provider).toBe('acme')
  expect(calls(routed)).toEqual([1, 1])
})

describe('the answer of a larger route', () => {
  const usage = { prompt_tokens: 9000, completion_tokens: 5, total_tokens: 9005 }
  const answer = jsonReply(chatOutput({}, { usage }))
  const model = {
    context_window: 8192,
    routes: routesOf({ on: all }, { context_window: 16_384 }),
  }
  const long = { ...chatRequest, messages: [{ role: 'user', content: 'word '.repeat(2000) }] }

  test('is charged once, with all of its prompt', async () => {
    await using paid = await startBillingScenario(tooLong, { other: [answer], model })
    expect((await paid.app.chat(long)).headers.get('x-weir-cost')).toBe('0.009050000')
    expect(await paid.billing.entries()).toEqual([
      ['credit', 1_000_000_000],
      ['charge', -9_050_000],
    ])
    await paid.billing.expectConsistent()
  })

  test('is reserved before the first route is called', async () => {
    // It covers 8,192 tokens, and not the 10,073 bytes of the prompt.
    await using poor = await startBillingScenario(tooLong, { other: [answer], model, balance: '0.0095' })
    expect((await readError(await poor.app.chat(long))).code).toBe('insufficient_balance')
    expect(calls(poor)).toEqual([0, 0])
  })
})
