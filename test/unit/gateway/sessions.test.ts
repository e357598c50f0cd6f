import { describe, expect, test } from 'bun:test'
import type { Generation, Message } from '../../../src/domain/generation/request.ts'
import type { Model, ModelRoute } from '../../../src/gateway/models/model.ts'
import { SessionRoutes, sessionOf } from '../../../src/gateway/routing/sessions.ts'
import { modelsWith, provider } from './support/model-fixtures.ts'

const [a, b, c] = ['a', 'b', 'c'].map((model) => ({ provider: provider('alpha'), model, weight: 1 })) as [
  ModelRoute,
  ModelRoute,
  ModelRoute,
]

const model: Model = { ...modelsWith().find('alpha/one')!, routes: [a, b] }

const text = (role: 'system' | 'user', content: string, extras?: object): Message => ({
  role,
  parts: [{ type: 'text', text: content, ...(extras && { extras: extras as Record<string, string> }) }],
})

const opening = [text('system', 'Be brief.'), text('user', 'How high is it?')]
const tool = { name: 'measure' }

type Changes = Partial<Generation> & {
  readonly session?: string
  readonly organization?: string
  readonly model?: Partial<Model>
}

function session({ session: named, organization = 'default', model: changes, ...generation }: Changes = {}) {
  const request = { id: 'req_1', organization, key: 'k', createdAt: 0, api: 'chat', stream: false } as const
  return sessionOf({
    metadata: named === undefined ? request : { ...request, session: named },
    model: { ...model, ...changes },
    generation: { messages: opening, tools: [tool], extras: {}, ...generation },
  })
}

describe('the session of a request', () => {
  const reply: Message = { role: 'assistant', parts: [{ type: 'text', text: 'Four metres.' }], toolCalls: [] }
  const same: readonly (readonly [string, Changes, Changes])[] = [
    ['later turns of a conversation', {}, { messages: [...opening, reply, text('user', 'Sure?')] }],
    [
      'another mark of what is cached',
      {},
      { messages: [opening[0]!, text('user', 'How high is it?', { cache_control: 'ephemeral' })] },
    ],
    ['another description of a tool', {}, { tools: [{ ...tool, description: 'Measures.' }] }],
    ['other messages of a named session', { session: 's' }, { session: 's', messages: [] }],
    [
      'another cache key of a named session',
      { session: 's' },
      { session: 's', extras: { prompt_cache_key: 'k' } },
    ],
    [
      'other messages with the same cache key',
      { extras: { prompt_cache_key: 'k' } },
      { extras: { prompt_cache_key: 'k' }, messages: [] },
    ],
  ]
  test.each([...same])('is the same for %s', (_, one, other) => {
    expect(session(one)).toBeDefined()
    expect(session(other)).toBe(session(one)!)
  })

  const image = (url: string): Changes => ({ messages: [{ role: 'user', parts: [{ type: 'image', url }] }] })
  const audio = (data: string): Changes => ({
    messages: [{ role: 'user', parts: [{ type: 'foreign', value: { type: 'input_audio', data } }] }],
  })
  const different: readonly (readonly [string, Changes, Changes])[] = [
    ['another first message of the user', {}, { messages: [opening[0]!, text('user', 'How long is it?')] }],
    ['other instructions', {}, { messages: [text('system', 'Be verbose.'), opening[1]!] }],
    ['other tools', {}, { tools: [] }],
    ['another image', image('data:image/png;base64,AAAA'), image('data:image/png;base64,AAAB')],
    ['other audio', audio('AAAA'), audio('AAAB')],
    ['another organization', {}, { organization: 'other' }],
    ['another model', {}, { model: { slug: 'alpha/other' } }],
    ['another name', { session: 's' }, { session: 't' }],
    ['the same name in another organization', { session: 's' }, { session: 's', organization: 'other' }],
    ['another cache key', { extras: { prompt_cache_key: 'k' } }, { extras: { prompt_cache_key: 'l' } }],
  ]
  test.each([...different])('is another one for %s', (_, one, other) => {
    expect(session(one)).toBeDefined()
    expect(session(other)).toBeDefined()
    expect(session(other)).not.toBe(session(one)!)
  })

  const none: readonly (readonly [string, Changes])[] = [
    ['a model without affinity', { session: 's', model: { affinity: 'none' } }],
    ['a model with one route', { session: 's', model: { routes: [a] } }],
    [
      'routes without weights',
      { session: 's', model: { routes: [a, b].map((route) => ({ ...route, weight: undefined })) } },
    ],
    ['routes of which one alone has a share', { session: 's', model: { routes: [a, { ...b, weight: 0 }] } }],
    ['embeddings that name none', { operation: 'embedding', messages: [], inputs: ['weir'] }],
  ]
  test.each([...none])('is undefined for %s', (_, changes) => {
    expect(session(changes)).toBeUndefined()
  })

  test('is the one that a completion names', () => {
    const named = { operation: 'completion', messages: [], session: 's' } as const
    expect(session({ ...named, inputs: ['a'] })).toBe(session({ ...named, inputs: ['b'] })!)
  })
})

const minute = 60_000

/** A session, its routes from the one that it prefers to the last, and its order at a time, with some circuits open. */
function preferring(id = 1n) {
  let now = 0
  const sessions = new SessionRoutes(() => now)
  const [first, second, third] = sessions.order(id, [a, b, c], () => false) as [
    ModelRoute,
    ModelRoute,
    ModelRoute,
  ]
  return {
    sessions,
    first,
    second,
    third,
    served: (route: ModelRoute, other = id) => sessions.served(other, [a, b, c], route),
    order(at: number, ...open: readonly ModelRoute[]) {
      now = at
      return sessions.order(id, [a, b, c], (route) => open.includes(route))
    },
  }
}

describe('a session that another route than its own has served', () => {
  test('stays there, and tries its own route next', () => {
    const { order, served, first, second, third } = preferring()
    served(third)
    expect(order(4 * minute)).toEqual([third, first, second])
  })

  test('returns after five minutes without a request', () => {
    const { order, served, first, second, third } = preferring()
    served(third)
    expect(order(5 * minute)).toEqual([first, second, third])
    expect(order(0)).toEqual([first, second, third])
  })

  test('returns after an hour, however busy it is', () => {
    const { order, served, first, third } = preferring()
    for (let minutes = 0; minutes < 60; minutes += 4) {
      served(third)
      expect(order((minutes + 4) * minute)[0]).toBe(minutes + 4 < 60 ? third : first)
    }
  })

  test('probes its own route while the circuit of that is open, and returns once it has served', () => {
    const { order, served, first, second, third } = preferring()
    served(third)
    expect(order(1, first)).toEqual([first, third, second])
    served(first)
    expect(order(2)).toEqual([first, second, third])
  })

  test('leaves it while its circuit is open', () => {
    const { order, served, first, second, third } = preferring()
    served(third)
    expect(order(1, third)).toEqual([first, second, third])
    expect(order(2)).toEqual([third, first, second])
  })

  test('is forgotten where 10,000 others have moved since it was used', () => {
    const { order, served, first, third } = preferring()
    const others = Array.from({ length: 30_000 }, (_, number) => BigInt(number + 2))
    const moving = others.filter((id) => preferring(id).first !== third).slice(0, 10_000)
    served(third)
    for (const id of moving.slice(1)) served(third, id)
    expect(order(1)[0]).toBe(third)
    served(third, moving[0]!)
    expect(order(2)[0]).toBe(first)
  })
})
