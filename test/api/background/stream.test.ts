import { expect, test } from 'bun:test'
import { startBillingScenario, replyCost } from '../../support/billing-scenario.ts'
import { readPieces } from '../../support/body-reader.ts'
import { gatedReply, waitForRun, startRun } from '../../support/background.ts'
import { streamReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import {
  replayResponse,
  postResponse,
  retrieveResponse,
  streamResponse,
  textOf,
} from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'

const inBackground = { background: true, stream: true }

function idIn(text: string): string {
  return /"id":"(resp_[0-9a-f]+)"/.exec(text)?.[1] ?? ''
}

test('the stream of a background run emits the same events as its readers receive', async () => {
  await using scenario = await startScenario(streamReply())
  const { types, events, last, text, headers } = await streamResponse(scenario.app, inBackground)
  expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(types.slice(0, 3)).toEqual(['response.created', 'response.queued', 'response.in_progress'])
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...types.keys()])
  expect(last).toMatchObject({ status: 'completed', background: true })
  expect(textOf(last!)).toBe('It is four metres.')
  expect((await replayResponse(scenario.app, last!.id)).text).toBe(text)
})

test('a caller who disconnects does not stop the run, which is charged in full', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startBillingScenario(gatedReply(gate.promise))
  const aborting = new AbortController()
  const reply = await postResponse(paid.app, inBackground, { signal: aborting.signal })
  const reader = readPieces(reply)
  const id = idIn(await reader.until('It is '))
  aborting.abort()
  await reader.rest().catch(() => {})
  expect((await retrieveResponse(paid.app, id)).status).toBe('in_progress')
  gate.resolve()
  const run = await waitForRun(paid.app, id)
  expect([run.status, textOf(run)]).toEqual(['completed', 'It is four metres.'])
  expect(await paid.acme.requests[0]!.aborted).toBe(false)
  expect(await paid.billing.waitForUsage(1)).toEqual([
    expect.objectContaining({ status: 200, error: null, cost: replyCost, stream: 1 }),
  ])
  await paid.billing.expectConsistent()
})

test('a caller who disconnects while the run is queued does not stop it either', async () => {
  const gate = Promise.withResolvers<void>()
  await using scenario = await startScenario([gatedReply(gate.promise), streamReply()], {
    settings: { background: { concurrency: 1 } },
  })
  await startRun(scenario)
  const reader = readPieces(await postResponse(scenario.app, inBackground))
  const id = idIn((await reader.next()) ?? '')
  await reader.leave()
  gate.resolve()
  expect((await waitForRun(scenario.app, id)).status).toBe('completed')
})

test('the stream of a background run can be resumed where it was interrupted', async () => {
  const gate = Promise.withResolvers<void>()
  await using scenario = await startScenario(gatedReply(gate.promise))
  const reader = readPieces(await postResponse(scenario.app, inBackground))
  const text = await reader.until('It is ')
  await reader.leave()
  const frames = text.split('\n\n').filter((frame) => frame.startsWith('event: '))
  gate.resolve()
  const rest = await replayResponse(scenario.app, idIn(text), `starting_after=${frames.length - 1}`)
  const all = await replayResponse(scenario.app, idIn(text))
  const received = frames.map((frame) => `${frame}\n\n`).join('')
  expect(received + rest.text.replaceAll(': keep-alive\n\n', '')).toBe(all.text)
})

test('a streamed run that cannot be queued is rejected with an HTTP status', async () => {
  await using paid = await startBillingScenario(streamReply(), { balance: '0' })
  expect(await readError(await postResponse(paid.app, inBackground))).toMatchObject({
    status: 402,
    code: 'insufficient_balance',
  })
  expect(paid.acme.requests).toEqual([])
})
