import { expect, test } from 'bun:test'
import { startPaid, usualCost } from '../reliability/money/support/paid.ts'
import { readPieces } from '../support/body-reader.ts'
import { gatedAnswer, runOver, startedRun } from '../support/background.ts'
import { streamed } from '../support/chat-answers.ts'
import { readError } from '../support/chat-reply.ts'
import { replayed, respond, retrieved, streamedResponse, textOf } from '../support/responses.ts'
import { startScenario } from '../support/scenario.ts'

const inBackground = { background: true, stream: true }

function idIn(text: string): string {
  return /"id":"(resp_[0-9a-f]+)"/.exec(text)?.[1] ?? ''
}

test('the stream of a background run emits the same events as its readers receive', async () => {
  await using scenario = await startScenario(streamed())
  const { types, events, last, text, headers } = await streamedResponse(scenario.app, inBackground)
  expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(types.slice(0, 3)).toEqual(['response.created', 'response.queued', 'response.in_progress'])
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...types.keys()])
  expect(last).toMatchObject({ status: 'completed', background: true })
  expect(textOf(last!)).toBe('It is four metres.')
  expect((await replayed(scenario.app, last!.id)).text).toBe(text)
})

test('a caller who disconnects does not stop the run, which is charged in full', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startPaid(gatedAnswer(gate.promise))
  const leaving = new AbortController()
  const reply = await respond(paid.app, inBackground, { signal: leaving.signal })
  const reader = readPieces(reply)
  const first = await reader.next()
  await reader.until('It is ')
  leaving.abort()
  await reader.rest().catch(() => {})
  const id = idIn(first ?? '')
  expect((await retrieved(paid.app, id)).status).toBe('in_progress')
  gate.resolve()
  const run = await runOver(paid.app, id)
  expect([run.status, textOf(run)]).toEqual(['completed', 'It is four metres.'])
  expect(await paid.acme.requests[0]!.left).toBe(false)
  expect(await paid.books.settled(1)).toEqual([
    expect.objectContaining({ status: 200, error: null, cost: usualCost, stream: 1 }),
  ])
  paid.books.expectSound()
})

test('a caller who disconnects while the run is queued does not stop it either', async () => {
  const gate = Promise.withResolvers<void>()
  await using scenario = await startScenario([gatedAnswer(gate.promise), streamed()], {
    settings: { background: { concurrency: 1 } },
  })
  await startedRun(scenario)
  const reader = readPieces(await respond(scenario.app, inBackground))
  const id = idIn((await reader.next()) ?? '')
  await reader.leave()
  gate.resolve()
  expect((await runOver(scenario.app, id)).status).toBe('completed')
})

test('the stream of a background run can be resumed where it was interrupted', async () => {
  const gate = Promise.withResolvers<void>()
  await using scenario = await startScenario(gatedAnswer(gate.promise))
  const reader = readPieces(await respond(scenario.app, inBackground))
  let text = ''
  while (!text.includes('It is ')) text += await reader.next()
  await reader.leave()
  const frames = text.split('\n\n').filter((frame) => frame.startsWith('event: '))
  gate.resolve()
  const rest = await replayed(scenario.app, idIn(text), `starting_after=${frames.length - 1}`)
  const all = await replayed(scenario.app, idIn(text))
  const told = frames.map((frame) => `${frame}\n\n`).join('')
  expect(told + rest.text.replaceAll(': keep-alive\n\n', '')).toBe(all.text)
})

test('a streamed run that cannot be queued is rejected with an HTTP status', async () => {
  await using paid = await startPaid(streamed(), { balance: '0' })
  expect(await readError(await respond(paid.app, inBackground))).toMatchObject({
    status: 402,
    code: 'insufficient_balance',
  })
  expect(paid.acme.requests).toEqual([])
})
