import { describe, expect, test } from 'bun:test'
import type { Citation, GenerationEvent } from '../../../../src/domain/generation/events.ts'
import { delta, eventsOf, protocolNamed } from './support/chunks.ts'

const done = '[DONE]'
const stop = delta({}, 'stop')
const [gauge, weir] = ['https://river.example/gauge', 'https://river.example/weir']

function annotation(page: object, type = 'url_citation'): object {
  return { type, url_citation: page }
}

function citationOf(url: string, title = url, startIndex = 0, endIndex = 0): Citation {
  return { url, title, startIndex, endIndex }
}

const citationsIn = (events: readonly GenerationEvent[], choice = 0) =>
  events.flatMap((event) => (event.type === 'citations' && event.choice === choice ? event.citations : []))
const typesOf = (events: readonly GenerationEvent[]) => events.map(({ type }) => type)

function parsed(message: object, rest: object = {}): readonly GenerationEvent[] {
  const choice = { index: 0, message: { content: 'Hi', ...message }, finish_reason: 'stop' }
  return protocolNamed('openrouter').parse({ choices: [choice], ...rest })
}

describe('the citations of a chat completion', () => {
  test('are the annotations of its message, behind the text', () => {
    const annotations = [
      annotation({ url: gauge, title: 'Gauge', start_index: 3, end_index: 8, content: 'At 3 m.' }),
      annotation({ url: weir }),
    ]
    const events = parsed({
      annotations,
      tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }],
    })
    expect(citationsIn(events)).toEqual([citationOf(gauge, 'Gauge', 3, 8), citationOf(weir)])
    expect(typesOf(events).slice(0, 3)).toEqual(['text', 'citations', 'tool-call-begin'])
  })

  test('are the search results beside the choices, in their order, even where two are equal', () => {
    const search_results = [
      { title: 'Gauge', url: gauge, date: '2026-01-01', snippet: 'At 3 m.' },
      { url: weir },
      { title: 'Gauge', url: gauge },
    ]
    const events = parsed({}, { search_results, citations: ['https://other.example'] })
    const first = citationOf(gauge, 'Gauge')
    expect(citationsIn(events)).toEqual([first, citationOf(weir), first])
  })

  test.each([[{}], [{ search_results: [] }], [{ search_results: null }]])(
    'are URLs alone where there are no search results: %j',
    (rest) => {
      const events = parsed({}, { citations: [gauge, weir], ...rest })
      expect(citationsIn(events)).toEqual([citationOf(gauge), citationOf(weir)])
    },
  )

  test('are the annotations alone where there are both', () => {
    const annotations = [annotation({ url: gauge, title: 'Gauge' })]
    expect(citationsIn(parsed({ annotations }, { citations: [gauge, weir] }))).toEqual([
      citationOf(gauge, 'Gauge'),
    ])
  })

  test.each<[string, object, object]>([
    ['none', {}, {}],
    ['empty lists', { annotations: [] }, { citations: [], search_results: [] }],
    ['no lists', { annotations: 'a', citations: 1 }, { citations: gauge, search_results: { url: gauge } }],
    ['annotations of another type', { annotations: [annotation({ url: gauge }, 'file')] }, {}],
    [
      'annotations without a page',
      { annotations: [null, 1, {}, annotation({}), { type: 'url_citation' }] },
      {},
    ],
    ['another scheme', { annotations: [annotation({ url: 'javascript:alert(1)' })] }, {}],
    ['no scheme', {}, { citations: ['river.example', '', null, {}, ['https://river.example']] }],
    ['a URL that is too long', {}, { citations: [`https://river.example/${'a'.repeat(8192)}`] }],
  ])('cause no event where there are %s', (_, message, rest) => {
    expect(parsed(message, rest)).toEqual(parsed({}))
  })

  test('have a bounded title, and indices that are numbers', () => {
    const page = { url: gauge, title: `${'a'.repeat(999)}😀`, start_index: '3', end_index: -1 }
    const [citation] = citationsIn(parsed({ annotations: [annotation(page)] }))
    expect(citation).toEqual(citationOf(gauge, `${'a'.repeat(999)}\ufffd`))
    expect(citationsIn(parsed({}, { citations: [`${gauge}/${'a'.repeat(2000)}`] }))[0]?.title).toHaveLength(
      1000,
    )
  })

  test('are 200 at most', () => {
    const urls = Array.from({ length: 300 }, (_, index) => `${gauge}/${index}`)
    const last = citationOf(`${gauge}/199`)
    for (const body of [
      parsed({ annotations: urls.map((url) => annotation({ url })) }),
      parsed({}, { citations: urls }),
    ]) {
      expect(citationsIn(body)).toHaveLength(200)
      expect(citationsIn(body).at(-1)).toEqual(last)
    }
    const streamed = eventsOf(
      'openai',
      ...urls.map((url) => delta({ annotations: [annotation({ url })] })),
      stop,
    )
    expect(citationsIn(streamed)).toHaveLength(200)
  })
})

describe('the citations of a streamed chat completion', () => {
  test('are emitted once where every chunk repeats the list so far', () => {
    const results = [
      { title: 'Gauge', url: gauge },
      { title: 'Weir', url: weir },
    ]
    const first = { citations: [gauge], search_results: results.slice(0, 1) }
    const all = { citations: [gauge, weir], search_results: results }
    const events = eventsOf(
      'perplexity',
      delta({ content: 'Hi' }, null, first),
      delta({ content: ' [1]' }, null, first),
      delta({ content: ' [2]' }, null, all),
      delta({ content: '' }, 'stop', { object: 'chat.completion.done', ...all }),
    )
    expect(typesOf(events)).toEqual(['text', 'citations', 'text', 'text', 'citations', 'ending', 'finish'])
    expect(citationsIn(events)).toEqual([citationOf(gauge, 'Gauge'), citationOf(weir, 'Weir')])
  })

  test('are the annotations of all deltas, each once, also behind the finish reason', () => {
    const [one, two] = [annotation({ url: gauge, start_index: 1, end_index: 2 }), annotation({ url: weir })]
    const again = annotation({ url: gauge, start_index: 5, end_index: 6 })
    const events = eventsOf(
      'openrouter',
      delta({ content: 'Hi', annotations: [one] }),
      delta({ content: '', annotations: [one, again] }),
      stop,
      delta({ content: '', annotations: [two, one] }, 'stop'),
      done,
    )
    expect(typesOf(events)).toEqual(['text', 'citations', 'citations', 'ending', 'citations', 'finish'])
    expect(citationsIn(events)).toEqual([
      citationOf(gauge, gauge, 1, 2),
      citationOf(gauge, gauge, 5, 6),
      citationOf(weir),
    ])
  })

  test('are those of the form that comes first', () => {
    const annotations = [annotation({ url: gauge })]
    const sources = { citations: [gauge, weir] }
    const before = eventsOf(
      'xai',
      delta({ content: 'Hi' }, null, sources),
      delta({ annotations }, 'stop'),
      done,
    )
    expect(citationsIn(before)).toEqual([citationOf(gauge), citationOf(weir)])
    const behind = eventsOf('xai', delta({ content: 'Hi', annotations }), delta({}, 'stop', sources), done)
    expect(citationsIn(behind)).toEqual([citationOf(gauge)])
  })

  test('are those of each choice', () => {
    const two = {
      choices: [{ index: 1, delta: { content: 'Ho', annotations: [annotation({ url: weir })] } }],
    }
    const events = eventsOf('openai', delta({ annotations: [annotation({ url: gauge })] }), two, stop, done)
    expect(citationsIn(events)).toEqual([citationOf(gauge)])
    expect(citationsIn(events, 1)).toEqual([citationOf(weir)])
  })

  test('cause no event where there are none', () => {
    const annotations: unknown[] = []
    const plain = eventsOf('openai', delta({ content: 'Hi' }), stop, done)
    expect(eventsOf('openai', delta({ content: 'Hi', annotations }), stop, done)).toEqual(plain)
  })
})
