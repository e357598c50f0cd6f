import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { join } from 'node:path'
import { adminKey } from '../../api/support/admin.ts'
import { embeddingReply, embeddingRequest, vectors } from '../../api/support/embeddings.ts'
import { choice, completionReply, completionRequest } from '../../api/support/text-completions.ts'
import { firstKey } from '../../support/app.ts'
import { chatOutput, chunks, delta, jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import { messageRequest } from '../../support/messages.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { breakOff, json, type Script } from '../../support/script.ts'
import { createCollector } from '../../unit/observability/support/collector.ts'
import { temporaryFolder } from '../../unit/storage/support/folder.ts'

const prompt = 'canary of the prompt'
const answer = 'canary of the answer'
const reasoning = 'canary of the reasoning'
const argument = 'canary of the argument'
const rejection = 'canary of the rejection'
const words = [prompt, answer, reasoning, argument, rejection, 'canary']

const call = { id: 'call_1', name: 'look_up', arguments: [`{"place":"${argument}"}`] }
const output = chatOutput({ text: [answer], reasoning: [reasoning] })
const calling = chatOutput({ text: [answer], calls: [call], finish: 'tool_calls' })
/** Quotes the whole prompt, a part of it without quotation marks, and a word of it. */
const sentence = `The input ${rejection}, “${prompt}” is not supported for canary of “canary” with this model.`
const kept = ' is not supported for '
const rejected = json({ error: { message: sentence } }, { status: 400 })
const failing = (status: number) =>
  json({ error: { message: sentence, type: rejection, param: prompt } }, { status })
const unprocessable = failing(422)
const failures = [403, 404, 429, 500].map(failing)
const failingInStream = chunks([
  delta({ content: answer }),
  { error: { message: sentence, code: 'server_error' } },
])
const broken = chunks([delta({ content: answer })], breakOff)

const messages = [{ role: 'user', content: prompt }]
const chat = { model: 'acme/river', messages, store: false }
const response = { model: 'acme/river', input: prompt, store: false }

/** Each endpoint, with what its provider replies. */
const requests: readonly (readonly [path: string, body: object, script: Script])[] = [
  ['chat/completions', chat, jsonReply(calling)],
  ['chat/completions', { ...chat, stream: true }, streamReply(output)],
  ['chat/completions', { ...chat, stream: true }, broken],
  ['chat/completions', { ...chat, stream: true }, failingInStream],
  ['chat/completions', chat, rejected],
  ...[unprocessable, ...failures].map((script) => ['chat/completions', chat, script] as const),
  ['responses', response, jsonReply(output)],
  ['responses', { ...response, stream: true }, streamReply(calling)],
  ['responses', response, rejected],
  ['messages', { ...messageRequest, messages }, jsonReply(calling)],
  ['messages', { ...messageRequest, messages, stream: true }, streamReply(output)],
  ['messages', { ...messageRequest, messages }, rejected],
  ['completions', { ...completionRequest, prompt }, completionReply([choice(answer)])],
  ['embeddings', { ...embeddingRequest, input: prompt }, embeddingReply(vectors.slice(0, 1))],
]

/** What the client receives where its request fails. */
const statuses = new Map<Script, number>([
  [rejected, 400],
  [unprocessable, 400],
  ...failures.map((script) => [script, 502] as const),
])

/** Sends all of them; returns their statuses. */
async function sendEverything({ app, acme }: Scenario): Promise<number[]> {
  const received: number[] = []
  for (const [path, body, script] of requests) {
    acme.respondWith(script)
    const reply = await app.request(`/v1/${path}`, { method: 'POST', body })
    await reply.text()
    received.push(reply.status)
  }
  return received
}

/** All that lies in the folder, as text. */
async function filesIn(folder: string): Promise<string> {
  const names = await Array.fromAsync(new Glob('**/*').scan({ cwd: folder, dot: true }))
  expect(names).toContain('weir.db')
  const files = names.map((name) => Bun.file(join(folder, name)).bytes())
  return (await Promise.all(files)).map((bytes) => Buffer.from(bytes).toString('latin1')).join('\n')
}

/** Runs everything with the content log on or off, and returns the words that are found in each place. */
async function wordsAfter(contentLog: boolean) {
  const folder = temporaryFolder()
  await using collector = createCollector()
  await using scenario = await startScenario([], {
    database: join(folder, 'weir.db'),
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, WEIR_ADMIN_KEY: adminKey },
    model: { supported_apis: ['chat_completions', 'responses', 'messages', 'completions', 'embeddings'] },
    settings: { compatibility: { function_tools: true } },
  })
  const { app } = scenario
  const authorization = `Bearer ${adminKey}`
  const id = firstKey.slice('sk-weir-'.length).split('-')[0]
  const body = { content_log: contentLog }
  const changed = await app.request(`/admin/keys/${id}`, {
    method: 'PATCH',
    headers: { authorization },
    body,
  })
  expect(await changed.json()).toMatchObject(body)
  expect(await sendEverything(scenario)).toEqual(requests.map(([, , script]) => statuses.get(script) ?? 200))
  const metrics = await (await app.request('/metrics', { headers: { authorization } })).text()
  const before = await filesIn(folder)
  await app.stop()
  const files = before + (await filesIn(folder))
  expect(files).toContain('acme/river')
  expect(files).toContain(kept)
  const found = (text: string) => words.filter((word) => text.includes(word))
  const told = [app.lines.join('\n'), app.requestLines.all.join('\n'), metrics, collector.text()].join('\n')
  expect(app.requestLines.all).toHaveLength(requests.length + 1)
  return { files: found(files), told: found(told) }
}

test('without a content log, no file contains a prompt, an answer or the sentence of a provider', async () => {
  expect(await wordsAfter(false)).toEqual({ files: [], told: [] })
})

test('with a content log, the database contains them, and the log, the metrics and the traces do not', async () => {
  expect(await wordsAfter(true)).toEqual({ files: words, told: [] })
})
