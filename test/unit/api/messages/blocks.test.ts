import { describe, expect, test } from 'bun:test'
import { BlockFold, BlockReducer } from '../../../../src/api/messages/message-stream.ts'
import type { BlockEvent, BlockOptions } from '../../../../src/api/messages/blocks.ts'
import type { GenerationEvent } from '../../../../src/domain/generation/events.ts'
import { openSealedState, sealState } from '../../../../src/domain/generation/sealed-state.ts'
import { ValueBudget } from '../../../../src/lib/validation/value-budget.ts'
import { testSeed } from '../../../support/seed.ts'
import { randomFrom } from '../../providers/protocols/support/random.ts'

const shown: BlockOptions = { provider: 'acme', thinking: 'shown' }
const choice = 0

function reduce(events: readonly GenerationEvent[], options = shown) {
  const reducer = new BlockReducer(options)
  const out = [...reducer.add(events), ...reducer.end()]
  const { blocks } = reducer
  const fold = new BlockFold()
  fold.add(out)
  return { out, blocks, content: fold.blocks() }
}

const text = (words: string): GenerationEvent => ({ type: 'text', choice, text: words })
const reasoning = (words: string): GenerationEvent => ({ type: 'reasoning', choice, text: words })
const begin = (index: number, name = 'f'): GenerationEvent => {
  return { type: 'tool-call-begin', choice, index, id: `call_${index}`, name }
}
const piece = (index: number, words: string): GenerationEvent => {
  return { type: 'tool-call-delta', choice, index, arguments: words }
}
const ended = (index: number, words: string): GenerationEvent => {
  return { type: 'tool-call', choice, index, call: { id: `call_${index}`, name: 'f', arguments: words } }
}
const toolUse = (index: number, input: object) => ({
  type: 'tool_use',
  id: `call_${index}`,
  name: 'f',
  input,
})
const unsigned = sealState({ provider: 'acme', state: null })

/** Every block begins after the one before it has ended, and its deltas are in between. */
function expectOrdered(out: readonly BlockEvent[]): void {
  let open: number | undefined
  let count = 0
  for (const event of out) {
    if (event.type === 'content_block_start') {
      expect([open, event.index]).toEqual([undefined, count])
      open = event.index
      count += 1
    } else {
      expect<number | undefined>(event.index).toBe(open)
      if (event.type === 'content_block_stop') open = undefined
    }
  }
  expect(open).toBeUndefined()
}

describe('the blocks of a reply', () => {
  const cases: readonly (readonly [string, readonly GenerationEvent[], readonly object[]])[] = [
    ['an empty answer has none', [], []],
    ['pieces of text are one block', [text('It '), text('rises.')], [{ type: 'text', text: 'It rises.' }]],
    [
      'the end of a text divides blocks',
      [text('One.'), { type: 'text-end', choice }, text('Two.')],
      [
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.' },
      ],
    ],
    [
      'thinking of a provider without signatures is sealed',
      [reasoning('Hm'), reasoning('m.'), text('Yes.')],
      [
        { type: 'thinking', thinking: 'Hmm.', signature: unsigned },
        { type: 'text', text: 'Yes.' },
      ],
    ],
    [
      'a signature is passed on as it is',
      [reasoning('Hm.'), { type: 'reasoning-end', choice, state: { a: 1 }, signature: 'sig' }],
      [{ type: 'thinking', thinking: 'Hm.', signature: 'sig' }],
    ],
    [
      'redacted thinking is a block of its own',
      [{ type: 'reasoning-end', choice, state: {}, redacted: 'secret' }],
      [{ type: 'redacted_thinking', data: 'secret' }],
    ],
    [
      'parallel calls that interleave follow one another',
      [
        begin(0),
        begin(1),
        piece(0, '{"a"'),
        piece(1, '{"b":'),
        piece(0, ':1}'),
        piece(1, '2}'),
        ended(1, '{"b":2}'),
        ended(0, '{"a":1}'),
      ],
      [toolUse(0, { a: 1 }), toolUse(1, { b: 2 })],
    ],
    [
      'text within a call follows it',
      [
        begin(0),
        text('Wait'),
        piece(0, '{}'),
        text('…'),
        begin(1),
        ended(0, '{}'),
        piece(1, '{}'),
        ended(1, '{}'),
      ],
      [toolUse(0, {}), { type: 'text', text: 'Wait…' }, toolUse(1, {})],
    ],
    ['a call that is cut off has no input', [begin(0), piece(0, '{"a":')], [toolUse(0, {})]],
    [
      'calls that never end are all ended',
      [begin(0), begin(1), piece(1, '{"b":2}'), piece(0, '{"a":1}'), begin(2)],
      [toolUse(0, { a: 1 }), toolUse(1, { b: 2 }), toolUse(2, {})],
    ],
    [
      'annotations of Anthropic are citations',
      [
        text('It is.'),
        { type: 'annotation', choice, protocol: 'anthropic', annotation: { type: 'page_location' } },
      ],
      [{ type: 'text', text: 'It is.', citations: [{ type: 'page_location' }] }],
    ],
    [
      'annotations of another protocol are ignored',
      [
        text('It is.'),
        { type: 'annotation', choice, protocol: 'responses', annotation: { type: 'url_citation' } },
      ],
      [{ type: 'text', text: 'It is.' }],
    ],
    [
      'blocks of Anthropic are passed on',
      [
        {
          type: 'provider-block',
          choice,
          protocol: 'anthropic',
          block: { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
        },
      ],
      [{ type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } }],
    ],
    [
      'blocks of another protocol are ignored',
      [{ type: 'provider-block', choice, protocol: 'gemini', block: { type: 'x' } }],
      [],
    ],
    ['other choices are ignored', [{ type: 'text', choice: 1, text: 'No.' }], []],
  ]

  test.each([...cases])('%s', (_, events, content) => {
    const { out, content: received } = reduce(events)
    expectOrdered(out)
    expect<unknown>(received).toEqual(content)
  })

  test('the state of a provider is sealed in the signature, with its name', () => {
    const state = { reasoning: [{ type: 'reasoning', encrypted_content: 'x' }] }
    const { content } = reduce([reasoning('Hm.'), { type: 'reasoning-end', choice, state }])
    expect(openSealedState(String(content[0]?.signature), new ValueBudget('input'))).toEqual({
      provider: 'acme',
      state,
    })
  })

  test('a call has the fields that its provider added', () => {
    const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
    const start: GenerationEvent = {
      type: 'tool-call-begin',
      choice,
      index: 0,
      id: 'call_0',
      name: 'f',
      providerFields: { protocol: 'anthropic', fields: { caller } },
    }
    expect<unknown>(reduce([start, ended(0, '{}')]).content).toEqual([{ ...toolUse(0, {}), caller }])
  })
})

describe('thinking that is not wanted', () => {
  const events = [
    reasoning('Hm.'),
    { type: 'reasoning-end', choice, state: {}, signature: 'sig' },
    text('Yes.'),
  ] as const

  test('has no text where it is omitted', () => {
    const { out, content } = reduce(events, { ...shown, thinking: 'omitted' })
    expect<unknown>(content).toEqual([
      { type: 'thinking', thinking: '', signature: 'sig' },
      { type: 'text', text: 'Yes.' },
    ])
    expect(JSON.stringify(out)).not.toContain('Hm.')
  })

  test('has no block where it is hidden', () => {
    expect<unknown>(reduce(events, { ...shown, thinking: 'hidden' }).content).toEqual([
      { type: 'text', text: 'Yes.' },
    ])
  })
})

test('random events never produce blocks that overlap, and lose no text', () => {
  const texts = [text('a'), reasoning('b')]
  const random = randomFrom(testSeed)
  for (let round = 0; round < 300; round++) {
    const events: GenerationEvent[] = []
    let calls = 0
    for (let step = 0; step < 40; step++) {
      const pick = Math.floor(random() * 6)
      const index = Math.floor(random() * Math.max(1, calls))
      if (pick < 2) events.push(texts[pick] ?? text('a'))
      else if (pick === 2) events.push(begin(calls++))
      else if (pick === 3 && calls > 0) events.push(piece(index, '1'))
      else if (pick === 4 && calls > 0) events.push(ended(index, '1'))
      else if (pick === 5) events.push({ type: 'reasoning-end', choice, state: {} })
    }
    const { out, content } = reduce(events)
    expectOrdered(out)
    const joined = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    expect(joined).toHaveLength(events.filter(({ type }) => type === 'text').length)
    expect(content.filter(({ type }) => type === 'tool_use')).toHaveLength(calls)
  }
})
