import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { kinds } from '../../../../src/providers/kinds/kinds.ts'
import { responses } from '../../../../src/providers/protocols/responses/protocol.ts'
import type { Protocol } from '../../../../src/providers/protocols/protocol.ts'
import { parsedReply, readStream } from './support/parsed-reply.ts'
import { expectOrderlyCalls } from './support/call-events.ts'
import { type Expected, expectedReplies, expectedUsage, type Recording } from './support/recorded-facts.ts'
import { factsOfGemini } from './support/recorded-gemini.ts'
import { factsOfResponse } from './support/recorded-responses.ts'

const folder = join(import.meta.dir, '../../../../../shared/recordings')
const kindOf: Record<string, string> = { 'openai-chat': 'openai', 'bedrock-mantle': 'bedrock' }

if (!existsSync(folder)) {
  test.skip('recordings of providers are parsed (skipped: there are none at ../shared/recordings)', () => {})
} else {
  for (const recording of recordings()) {
    test(`${recording.path} is parsed to its recorded facts`, () => check(recording))
  }
}

function check(recording: Recording): void {
  const { meta, body } = recording
  const protocol = wireOf(recording.family)
  if (meta.status !== 200 || (meta.facts.error && !meta.stream)) return checkError(protocol, recording)
  const events = meta.stream ? readStream(protocol, body) : protocol.parse(JSON.parse(body.toString()))
  const cut = expectOrderlyCalls(events)
  const reply = parsedReply(events)
  if (reply.failures.length === 0) expect(cut).toEqual([])
  const expected = expectedReplies(recording)
  expect(reply.failures.length).toBe(expected.broken ? 1 : 0)
  expect(reply.choices.map(outputIn)).toEqual(expected.choices.map(outputIn))
  expect(reply.choices.map((choice) => choice.finish)).toEqual(
    expected.choices.map(finishOf(expected.broken)),
  )
  if (meta.facts.usage) expect(reply.usage).toMatchObject(expectedUsage(meta.facts.usage))
  if (!meta.facts.usage) expect(reply.usage).toBeUndefined()
}

/** Arguments that came as an object have no spelling of their own. */
function outputIn({ text, reasoning, calls }: Expected): Pick<Expected, 'text' | 'reasoning' | 'calls'> {
  const spelled = (text: string) => JSON.stringify(tryJson(text))
  return { text, reasoning, calls: calls.map((call) => ({ ...call, arguments: spelled(call.arguments) })) }
}

function finishOf(broken: boolean): (choice: Expected) => string | undefined {
  return (choice) => (broken ? undefined : choice.finish)
}

function checkError(protocol: Protocol, { body, meta }: Recording): void {
  const parsed = tryJson(body.toString())
  const complaint = protocol.parseError(parsed)
  expect(complaint.message.length).toBeGreaterThan(5)
  if (meta.facts.error?.message) expect(complaint.message.length).toBeGreaterThanOrEqual(10)
  if (typeof meta.facts.error?.code === 'number') expect(complaint.status).toBe(meta.facts.error.code)
  if (meta.status === 200) expect(protocol.parse(parsed)).toEqual([{ type: 'failure', error: complaint }])
}

function wireOf(family: string): Protocol {
  if (family === 'responses') return responses
  const kind = kinds[kindOf[family] ?? family] ?? kinds['openai-compatible']
  if (!kind || !('protocol' in kind)) throw new Error(`there is no wire for ${family}`)
  return kind.protocol
}

function recordings(): Recording[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('/meta.json'),
  )
  return names.toSorted().flatMap((name) => {
    const [family = '', exchange = ''] = name.split('/')
    const meta = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    const body = readFileSync(join(folder, family, exchange, meta.response_file))
    const path = `${family}/${exchange}`
    if (meta.api === 'chat' || meta.api === 'messages') return [{ path, family, meta, body }]
    if (meta.api === 'gemini')
      return [{ path, family, meta: { ...meta, facts: factsOfGemini(meta.facts) }, body }]
    if (meta.api !== 'responses') return []
    const facts = factsOfResponse(meta.facts, body.toString())
    return facts ? [{ path, family: 'responses', meta: { ...meta, facts }, body }] : []
  })
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
