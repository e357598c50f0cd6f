import { describe, expect, test } from 'bun:test'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, framesOf, chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { openConnection } from '../../support/connection.ts'
import { chatRequest, type Scenario, type ScenarioOptions, startScenario } from '../../support/scenario.ts'
import { events, hang, json, jsonPieces, type Script, silence } from '../../support/script.ts'

const streamRequest = { ...chatRequest, stream: true }
const opening = [delta({ role: 'assistant', content: '' }), delta({ content: 'It is ' })]

/** Asks, leaves once the provider has the request, and returns when the provider has seen that. */
async function leaveEarly(scenario: Scenario, body: object): Promise<boolean | undefined> {
  const aborting = new AbortController()
  const requested = scenario.app.chat(body, { signal: aborting.signal })
  const request = await scenario.acme.request(0)
  aborting.abort()
  await expect(requested).rejects.toThrow(/abort/)
  return await request.aborted
}

/** Nothing is open, nothing more was asked for, and nobody was blamed in the log. */
async function expectNothingLeft({ app, acme, other }: Scenario): Promise<void> {
  await acme.idle()
  expect([acme.requests.length, other.requests.length]).toEqual([1, 0])
  expect(app.lines).toEqual([])
  expect((await app.request('/livez')).status).toBe(200)
}

describe('a client that disconnects before the first byte of its reply aborts the upstream call', () => {
  const cases: readonly (readonly [name: string, script: Script, body: object])[] = [
    ['the provider has sent nothing', silence, chatRequest],
    ['the provider has sent its headers', jsonPieces([], hang), chatRequest],
    ['half of the reply was received', jsonPieces(['{"choices":[{"index":0,'], hang), chatRequest],
    ['its stream has not begun', silence, streamRequest],
    ['its stream has only headers', events([], hang), streamRequest],
    ['its stream has only a role', chunks([delta({ role: 'assistant', content: '' })], hang), streamRequest],
  ]

  test.each([...cases])('when %s', async (_, script, body) => {
    const options: ScenarioOptions = { settings: { retries: { attempts: 2 } }, other: [jsonReply()] }
    await using scenario = await startScenario(script, options)
    expect(await leaveEarly(scenario, body)).toBe(true)
    await expectNothingLeft(scenario)
  })
})

describe('a client that disconnects in the middle of its stream aborts the upstream call', () => {
  test('by cancelling the body', async () => {
    await using scenario = await startScenario(chunks(opening, hang))
    const reader = readPieces(await scenario.app.chat(streamRequest))
    await reader.until('It is ')
    await reader.leave()
    expect(await scenario.acme.requests[0]?.aborted).toBe(true)
    await expectNothingLeft(scenario)
  })

  test('by closing the connection', async () => {
    await using scenario = await startScenario(chunks(opening, hang))
    const connection = await openConnection(scenario.app.url)
    connection.post(streamRequest)
    await connection.until('It is ')
    connection.reset()
    expect(await scenario.acme.requests[0]?.aborted).toBe(true)
    await expectNothingLeft(scenario)
  })

  test('while the provider continues to send', async () => {
    const frame = `data: ${JSON.stringify(delta({ content: 'x'.repeat(10_000) }))}\n\n`
    const flood = events(
      [...framesOf(chatOutput()).slice(0, 2), ...Array.from({ length: 500 }, () => frame)],
      hang,
    )
    await using scenario = await startScenario(flood)
    const reader = readPieces(await scenario.app.chat(streamRequest))
    await reader.until('xxx')
    await reader.leave()
    expect(await scenario.acme.requests[0]?.aborted).toBe(true)
    await expectNothingLeft(scenario)
  })

  test('before a first token that takes long', async () => {
    await using scenario = await startScenario(events([], hang), { patience: 10 })
    const reader = readPieces(await scenario.app.chat(streamRequest))
    await reader.until(': keep-alive')
    await reader.leave()
    expect(await scenario.acme.requests[0]?.aborted).toBe(true)
    await expectNothingLeft(scenario)
  })

  test('also when a hundred do so at once', async () => {
    await using scenario = await startScenario(chunks(opening, hang))
    const readers = await Promise.all(
      Array.from({ length: 100 }, async () => readPieces(await scenario.app.chat(streamRequest))),
    )
    await Promise.all(readers.map((reader) => reader.until('It is ')))
    await Promise.all(readers.map((reader) => reader.leave()))
    await scenario.acme.idle()
    expect(await Promise.all(scenario.acme.requests.map(({ aborted: left }) => left))).not.toContain(false)
    expect(scenario.app.lines).toEqual([])
  })
})

describe('a client that disconnects', () => {
  test('during the delay before a retry ends the retries', async () => {
    const settings = { retries: { attempts: 10 } }
    // The longest delay there is: on a busy machine, the client leaves before its end too.
    const failing = json({ error: { message: 'No.' } }, { status: 500, headers: { 'retry-after': '2' } })
    await using scenario = await startScenario(failing, { settings, other: [jsonReply()] })
    const aborting = new AbortController()
    const requested = scenario.app.chat(chatRequest, { signal: aborting.signal })
    await (
      await scenario.acme.request(0)
    ).aborted
    aborting.abort()
    await expect(requested).rejects.toThrow(/abort/)
    // What must not happen would happen after the delay.
    await Bun.sleep(2500)
    await expectNothingLeft(scenario)
  })

  test('does not count as a failure of the route', async () => {
    const settings = { retries: { attempts: 0 }, breaker: { failures: 1, cooldown: '10m' } }
    await using scenario = await startScenario(silence, { settings })
    await leaveEarly(scenario, chatRequest)
    scenario.acme.respondWith(jsonReply())
    expect((await scenario.app.chat(chatRequest)).status).toBe(200)
  })

  test('after it has read its complete reply leaves nothing open either', async () => {
    await using scenario = await startScenario(streamReply())
    await (await scenario.app.chat(streamRequest)).text()
    expect(await scenario.acme.requests[0]?.aborted).toBe(false)
    await expectNothingLeft(scenario)
  })

  test('in the middle of its request body never reaches the provider', async () => {
    await using scenario = await startScenario(jsonReply())
    const connection = await openConnection(scenario.app.url)
    connection.write('POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\n')
    connection.write(`authorization: Bearer ${scenario.app.key}\r\ncontent-length: 500\r\n\r\n{"model":`)
    await Bun.sleep(20)
    connection.reset()
    await Bun.sleep(20)
    expect(scenario.acme.requests).toEqual([])
    expect(scenario.app.lines).toEqual([])
  })
})

test('clients that disconnect neither keep the process alive nor leave an unhandled rejection', async () => {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/../support/leave-and-stop.ts`], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  expect([out, err, await child.exited]).toEqual(['stopped\n', '', 0])
})
