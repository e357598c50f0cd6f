import { describe, expect, test } from 'bun:test'
import { maxToolCalls } from '../../../src/domain/generation/answer.ts'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { chatOutput, jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { chatRequest } from '../../support/scenario.ts'
import { json, jsonPieces, type Script } from '../../support/script.ts'

const tools = [{ type: 'function', function: { name: 'f' } }]
const calls = Array.from({ length: maxToolCalls + 1 }, (_, index) => {
  return { id: `call_${index}`, name: 'f', arguments: ['{}'] }
})
const manyCalls = chatOutput({ calls, finish: 'tool_calls' })

/** Longer than the gateway reads, also where it is not declared. */
const longBody = new Uint8Array(64 * 1024 * 1024 + 1).fill(0x20)
const deep = json(`{"choices":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)

const answers: readonly (readonly [string, Script])[] = [
  ['makes too many tool calls', jsonReply(manyCalls)],
  ['makes too many tool calls in a stream that was not requested', streamReply(manyCalls)],
  ['is too long', jsonPieces([longBody])],
  ['nests too deeply', deep],
  ['has more text than any model writes', streamReply(chatOutput({ text: ['a', 'a'.repeat(17_000_000)] }))],
  ['sends an event that is too long', streamReply(chatOutput({ text: ['a', 'a'.repeat(34_000_000)] }))],
]

describe.each(answers)('a complete answer that %s', (_, script) => {
  test('fails once, and is charged, because its provider has generated it', async () => {
    await using paid = await startBillingScenario(script, {
      settings: { retries: { attempts: 2 } },
      other: [jsonReply()],
    })
    const reply = await paid.app.chat({ ...chatRequest, tools })
    const id = reply.headers.get('x-request-id') ?? ''
    expect(reply.headers.get('x-should-retry')).toBe('false')
    expect(await readError(reply)).toMatchObject({ status: 502, code: 'upstream_unavailable' })
    expect([paid.acme.requests.length, paid.other.requests.length]).toEqual([1, 0])
    const row = await paid.billing.usageOf(id)
    expect(row).toMatchObject({ status: 502, provider: 'acme', estimated: 1 })
    expect(row?.prompt_tokens).toBeGreaterThan(0)
    expect(row?.completion_tokens).toBeGreaterThan(0)
    expect(await paid.billing.account()).toEqual([1e9 - Number(row?.cost), 0])
    await paid.billing.expectConsistent()
  })
})
