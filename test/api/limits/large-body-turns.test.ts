import { expect, spyOn, test } from 'bun:test'
import { Type } from 'typebox'
import { minLargeBody } from '../../../src/gateway/rate-limits/large-bodies.ts'
import { callerOf, createLocalLimits } from '../../support/local-limits.ts'
import { createBodyReader } from '../../../src/http/json-body.ts'
import { createValidator } from '../../../src/lib/validation/validator.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { organization } from '../../unit/gateway/support/organization.ts'

const messages = (length: number) => [{ role: 'user', content: 'x'.repeat(length) }]
const large = JSON.stringify({ ...chatRequest, messages: messages(minLargeBody) })
const small = JSON.stringify({ ...chatRequest, messages: messages(2000) })

/** Counts the turns of the event loop in which steps run: other work has its turn between two of them. */
function countTurns() {
  const turns = new Set<number>()
  const steps: string[] = []
  let turn = 0
  let next = setImmediate(tick)

  function tick(): void {
    turn += 1
    next = setImmediate(tick)
  }

  return {
    steps,
    record(step: string): void {
      steps.push(step)
      turns.add(turn)
    },
    count: () => turns.size,
    [Symbol.dispose]: () => clearImmediate(next),
  }
}

test.each([
  ['large', large, 5],
  ['small', small, 1],
])(
  'the steps that read a %s body run in as many turns of the event loop as its size requires',
  async (_, text, expected) => {
    using turns = countTurns()
    const limits = { requestsPerMinute: 100, tokensPerMinute: 100, concurrentRequests: 100 }
    const owner = organization()
    const admission = createLocalLimits(() => limits).admit(callerOf(owner), () => {})
    const { acquire } = admission.memory
    using _measured = spyOn(admission.memory, 'acquire').mockImplementation((bytes) => {
      turns.record('acquire')
      return acquire(bytes)
    })
    const { parse } = JSON
    using _parsed = spyOn(JSON, 'parse').mockImplementation((json) => {
      turns.record('parse')
      return parse(json)
    })
    const headers = { 'content-length': String(text.length) }
    const request = new Request('http://localhost', { method: 'POST', body: text, headers })
    const validator = createValidator(Type.Object({}), () => turns.record('validate'))
    const caller = { organization: owner, hasCredit: true }
    await createBodyReader({ maxBody: text.length })(request, validator, { admission, caller })
    turns.record('serve')
    expect(turns.steps).toEqual(['acquire', 'acquire', 'parse', 'validate', 'serve'])
    expect(turns.count()).toBe(expected)
    admission.release()
  },
)

test.each([
  ['large', large, 2],
  ['small', small, 1],
])(
  'a %s body is serialized and sent in as many turns of the event loop as its size requires',
  async (_, body, expected) => {
    await using scenario = await startScenario(jsonReply())
    const { app, acme } = scenario
    using turns = countTurns()
    const { stringify } = JSON
    using _serialized = spyOn(JSON, 'stringify').mockImplementation(
      (value: unknown, replacer?: unknown, space?: string | number) => {
        const text = stringify(value, replacer as null, space)
        if (text?.includes('xxxx')) turns.record('serialize')
        return text
      },
    )
    const { fetch } = globalThis
    using _sent = spyOn(globalThis, 'fetch').mockImplementation(
      Object.assign(
        (...request: Parameters<typeof fetch>) => {
          if (String(request[0]).startsWith(acme.url)) turns.record('send')
          return fetch(...request)
        },
        { preconnect: fetch.preconnect },
      ),
    )
    expect((await app.request('/v1/chat/completions', { method: 'POST', body })).status).toBe(200)
    expect(turns.steps).toEqual(['serialize', 'send'])
    expect(turns.count()).toBe(expected)
  },
)
