import { describe, expect, test } from 'bun:test'
import type { ModelDetails } from '../../../src/config/model-details.ts'
import type { App, RequestOptions } from '../../support/app.ts'
import { queueRun, waitForRun } from '../../support/background.ts'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import { messageRequest, sendMessage } from '../../support/messages.ts'
import { createResponse, postResponse } from '../../support/responses.ts'
import { chatRequest, type ScenarioOptions, startScenario } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'

const acme = { provider: 'acme', model: 'river-1', weight: 1 }
const other = { provider: 'other', model: 'river-2', weight: 1 }
const model: Partial<ModelDetails> = { routes: [acme, other] }

/** The id of the organization is random: all of them prefer the same route once in 10^11 runs. */
const names = Array.from({ length: 40 }, (_, number) => `session-${number}`)

function startRouted(options: Partial<ScenarioOptions> = {}) {
  return startScenario(jsonReply(), { other: [jsonReply()], model, ...options })
}

/** The route that has served a reply. */
function routeOf(reply: Response): string {
  expect(reply.status).toBe(200)
  return reply.headers.get('x-weir-route') ?? ''
}

/** Sends a turn of the session; no two of its turns have a message in common. */
async function routeOfTurn(app: App, session: string, headers: RequestOptions['headers'] = {}) {
  const messages = [{ role: 'user', content: crypto.randomUUID() }]
  return routeOf(
    await app.chat({ ...chatRequest, messages }, { headers: { 'x-session-id': session, ...headers } }),
  )
}

/** The route of the next turn of each session, in their order. */
async function routesOfTurns(app: App, headers?: RequestOptions['headers']): Promise<readonly string[]> {
  const routes: string[] = []
  for (const name of names) routes.push(await routeOfTurn(app, name, headers))
  return routes
}

const bothRoutes = new Set(['acme/river-1', 'other/river-2'])

describe('the turns of a session go to one route', () => {
  const conversation = (name: string) => [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: `How high is weir ${name}?` },
  ]
  const later = [{ role: 'assistant', content: 'It is four metres.' }, ...chatRequest.messages]
  const header = (name: string, value: string) => ({ headers: { [name]: value } })

  /** Sends two turns of the session. */
  type Turns = (app: App, name: string) => readonly [() => Promise<Response>, () => Promise<Response>]

  const headerNames = [
    'x-session-id',
    'session_id',
    'session-id',
    'x-session-affinity',
    'x-openwebui-chat-id',
  ]
  const ways: readonly (readonly [string, Turns])[] = [
    ...headerNames.map((headerName): readonly [string, Turns] => [
      `the header ${headerName}`,
      (app, name) => [
        () => app.chat(chatRequest, header(headerName, name)),
        () => app.chat({ ...chatRequest, messages: conversation('') }, header(headerName, name)),
      ],
    ]),
    [
      'the header of Claude Code',
      (app, name) => [
        () => sendMessage(app, messageRequest, header('x-claude-code-session-id', name)),
        () =>
          sendMessage(
            app,
            { ...messageRequest, system: 'Be brief.' },
            header('x-claude-code-session-id', name),
          ),
      ],
    ],
    [
      'prompt_cache_key of a chat completion',
      (app, name) => [
        () => app.chat({ ...chatRequest, prompt_cache_key: name }),
        () => app.chat({ ...chatRequest, prompt_cache_key: name, messages: conversation('') }),
      ],
    ],
    [
      'prompt_cache_key of a response',
      (app, name) => [
        () => postResponse(app, { prompt_cache_key: name }),
        () => postResponse(app, { prompt_cache_key: name, input: 'How long is it?' }),
      ],
    ],
    [
      'the beginning of a conversation',
      (app, name) => [
        () => app.chat({ ...chatRequest, messages: conversation(name) }),
        () => app.chat({ ...chatRequest, messages: [...conversation(name), ...later] }),
      ],
    ],
    [
      'the beginning of a conversation of messages',
      (app, name) => {
        const [system, ...messages] = conversation(name)
        const body = { ...messageRequest, system: system?.content }
        return [
          () => sendMessage(app, { ...body, messages }),
          () => sendMessage(app, { ...body, messages: [...messages, ...later] }),
        ]
      },
    ],
  ]

  test.each([...ways])('that is named by %s', async (_, turns) => {
    await using scenario = await startRouted()
    const seen = new Set<string>()
    for (const name of names) {
      const [first, second] = turns(scenario.app, name)
      const route = routeOf(await first())
      seen.add(route)
      expect(routeOf(await second())).toBe(route)
    }
    expect(seen).toEqual(bothRoutes)
  })

  test('that continues a previous response', async () => {
    await using scenario = await startRouted()
    for (const name of names) {
      const { id, provider } = await createResponse(scenario.app, { input: `How high is weir ${name}?` })
      const next = await createResponse(scenario.app, { previous_response_id: id, input: 'Sure?' })
      expect(next.provider).toBe(provider)
    }
  })

  test('whether they are background runs or not', async () => {
    await using scenario = await startRouted()
    for (const name of names) {
      const options = { headers: { 'x-session-id': name } }
      scenario.acme.respondWith(jsonReply())
      scenario.other.respondWith(jsonReply())
      const { provider } = await createResponse(scenario.app, {}, options)
      scenario.acme.respondWith(streamReply())
      scenario.other.respondWith(streamReply())
      const { id } = await queueRun(scenario.app, { input: 'Sure?' }, options)
      expect((await waitForRun(scenario.app, id)).provider).toBe(provider)
    }
  })
})

test('sessions with the same name of two organizations are independent', async () => {
  await using paid = await startBillingScenario(jsonReply(), { other: [jsonReply()], model })
  await paid.billing.fund('globex', '1')
  const key = await paid.billing.keys.create({ organization: 'globex', name: 'laptop', expiresAt: null })
  const globex = { authorization: `Bearer ${key.key.reveal()}` }
  const routes = await routesOfTurns(paid.app)
  const routesOfGlobex = await routesOfTurns(paid.app, globex)
  expect(routesOfGlobex).not.toEqual(routes)
  expect(await routesOfTurns(paid.app)).toEqual(routes)
  expect(await routesOfTurns(paid.app, globex)).toEqual(routesOfGlobex)
})

test('only the sessions of a lost route move; they return when it responds and the caches have expired', async () => {
  let now = 0
  const settings = { retries: { attempts: 0 }, breaker: { failures: 1 } }
  await using scenario = await startRouted({ settings, clock: () => now })
  const own = await routesOfTurns(scenario.app)
  scenario.other.respondWith(json({ error: { message: 'Down.' } }, { status: 500 }))
  expect(new Set(await routesOfTurns(scenario.app))).toEqual(new Set(['acme/river-1']))
  scenario.other.respondWith(jsonReply())
  now = 60_000
  const recovering = await routesOfTurns(scenario.app)
  // The first of its sessions has probed the route; the others stay where their prompts are cached.
  const probing = own.indexOf('other/river-2')
  expect(recovering).toEqual(own.map((route, index) => (index === probing ? route : 'acme/river-1')))
  now += 5 * 60_000
  expect(await routesOfTurns(scenario.app)).toEqual(own)
})

test('`affinity: none` draws a route for each request', async () => {
  await using scenario = await startRouted({ model: { ...model, affinity: 'none' } })
  const routes = new Set<string>()
  // All draws are the same once in 10^29 runs.
  for (let turn = 0; turn < 100 && routes.size < 2; turn++)
    routes.add(await routeOfTurn(scenario.app, 'session'))
  expect(routes).toEqual(bothRoutes)
})

test('routes without weights are tried in their order, whatever the session', async () => {
  const routes = [acme, other].map((route) => ({ ...route, weight: undefined }))
  await using scenario = await startRouted({ model: { routes } })
  scenario.acme.respondWith(json({ error: { message: 'No.' } }, { status: 429 }), jsonReply())
  expect(await routeOfTurn(scenario.app, 'session')).toBe('other/river-2')
  expect(await routeOfTurn(scenario.app, 'session')).toBe('acme/river-1')
})
