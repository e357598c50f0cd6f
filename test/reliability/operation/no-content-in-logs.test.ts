import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { join } from 'node:path'
import { temporaryFolder } from '../../unit/storage/support/folder.ts'
import { firstKey } from '../../support/app.ts'
import { chunks, delta, chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { breakOff, events, json, reset, type Script, silence } from '../../support/script.ts'
import { createCollector } from '../../unit/observability/support/collector.ts'

const keys = {
  key: firstKey,
  secret: firstKey.slice(-32),
  provider: 'sk-canaryOfTheProvider0123456789',
  unknown: 'sk-weir-canaryUnknwn-canaryOfAKeyThatNobodyHas000000',
  operator: 'canary-of-the-operator',
} as const
const words = {
  prompt: 'canary of the prompt',
  system: 'canary of the instructions',
  answer: 'canary of the answer',
  reasoning: 'canary of the reasoning',
  tool: 'canary_of_the_tool',
  arguments: 'canary of the arguments',
  result: 'canary of the result',
  metadata: 'canary of the metadata',
} as const
/** What a client got wrong is in the lines of its requests, so that its mistake is found from them; but nowhere else. */
const mistakes = { path: 'canary-of-the-path', model: 'canary-of-the-model' } as const

const complaint = { error: { message: `${keys.provider} failed at ${words.prompt}: ${words.answer}` } }
const call = { id: 'call_1', name: words.tool, arguments: [`{"a":"${words.arguments}"}`] }
const providerReply = chatOutput({ text: [words.answer], reasoning: [words.reasoning] })
const calling = chatOutput({ text: [words.answer], calls: [call], finish: 'tool_calls' })

const scripts: readonly Script[] = [
  ...[400, 401, 404, 429, 500, 529].map((status) => json(complaint, { status })),
  jsonReply(providerReply),
  streamReply(providerReply),
  jsonReply(calling),
  streamReply(calling),
  chunks([delta({ content: words.answer }), complaint]),
  chunks([delta({ content: words.answer })], breakOff),
  events([`data: ${words.answer} is not JSON\n\n`]),
  json(`${words.answer} is not JSON`),
  reset,
  silence,
]

const tool = { type: 'function', function: { name: words.tool, description: words.prompt, parameters: {} } }
const messages = [
  { role: 'system', content: words.system },
  { role: 'user', content: words.prompt },
  {
    role: 'assistant',
    tool_calls: [{ id: 'c', type: 'function', function: { name: words.tool, arguments: words.arguments } }],
  },
  { role: 'tool', tool_call_id: 'c', content: words.result },
]
const request = {
  model: 'acme/river',
  messages,
  tools: [tool],
  metadata: { note: words.metadata },
  store: false,
}
const response = {
  model: 'acme/river',
  instructions: words.system,
  input: words.prompt,
  metadata: { note: words.metadata },
  store: false,
}

/** Everything that goes right and wrong; says how many answers held what the provider said. */
async function askEverything({ app, acme }: Scenario): Promise<number> {
  let received = 0
  const ask = async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const reply = await app.request(path, { method: 'POST', body, headers })
    if ((await reply.text()).includes(words.answer)) received++
  }
  for (const script of scripts) {
    acme.respondWith(script)
    for (const stream of [false, true]) {
      await ask('/v1/chat/completions', { ...request, stream })
      await ask('/v1/responses', { ...response, stream })
    }
  }
  for (const path of ['/v1/chat/completions', '/v1/responses']) {
    await ask(path, `{"${words.prompt}`)
    await ask(path, { ...request, ...response, model: words.prompt })
    await ask(path, { ...request, ...response, temperature: words.prompt })
    await ask(path, request, { authorization: `Bearer ${keys.unknown}` })
  }
  await app.request(`/v1/${mistakes.path}/${firstKey}?key=${firstKey}`)
  await app.request(`/v1/models/${mistakes.model}`, { headers: { traceparent: mistakes.model } })
  return received
}

/** The bytes of the database and of what lies beside it. */
async function storedIn(folder: string): Promise<string> {
  const files = await Array.fromAsync(new Glob('*').scan({ cwd: folder, dot: true }))
  expect(files).toContain('weir.db')
  const texts = files.map((file) => Bun.file(join(folder, file)).bytes())
  return (await Promise.all(texts)).map((bytes) => Buffer.from(bytes).toString('latin1')).join('\n')
}

test('the texts and keys of users appear in no log, metric, trace or unrelated row', async () => {
  const folder = temporaryFolder()
  await using collector = createCollector()
  await using scenario = await startScenario([], {
    database: join(folder, 'weir.db'),
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, WEIR_ADMIN_KEY: keys.operator },
    provider: { api_key: keys.provider, timeouts: { first_byte: '500ms' } },
    settings: { breaker: { failures: 1000, cooldown: '1s' } },
  })
  const { app } = scenario
  expect(await askEverything(scenario)).toBeGreaterThan(8)
  const headers = { 'x-forwarded-for': '10.0.0.7', authorization: `Bearer ${keys.operator}` }
  const metrics = await (await app.request('/metrics', { headers })).text()
  const before = await storedIn(folder)
  await app.stop()

  const places = {
    lines: app.requestLines.all.join('\n'),
    log: app.lines.join('\n'),
    metrics,
    traces: collector.text(),
    database: before + (await storedIn(folder)),
  }
  expect(app.requestLines.all.length).toBe(scripts.length * 4 + 10)
  for (const place of ['lines', 'metrics', 'traces'] as const) expect(places[place]).toContain('acme/river')
  expect(places.log).toContain('upstream_unavailable')
  expect(places.database).toContain('acme/river')
  for (const mistake of Object.values(mistakes)) expect(places.lines).toContain(mistake)
  for (const [place, text] of Object.entries(places)) {
    const hidden = { ...keys, ...words, ...(place !== 'lines' && mistakes) }
    const found = Object.entries(hidden).filter(([, secret]) => text.includes(secret))
    expect([place, found]).toEqual([place, []])
  }
})
