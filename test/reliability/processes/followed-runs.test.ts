import { expect, test } from 'bun:test'
import { cancelledRun, queueRun, startRun, waitForOutput } from '../../support/background.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, doneFrame, streamReply, usage } from '../../support/chat-fixtures.ts'
import { replayResponse, responsesPath, type StreamedEvents, textOf } from '../../support/responses.ts'
import { endlessReply, prepareRunGateways } from './support/run-gateways.ts'
import { testSharedDatabases } from './support/shared-database.ts'

/** A reply with this many deltas, in parts that each wait for the next gate. */
function gatedParts(count: number, gates: readonly Promise<void>[]) {
  const part = (index: number) =>
    Array.from({ length: count }, (_, word) => delta({ content: `${index}.${word} ` }))
  return chunks([
    delta({ role: 'assistant', content: '' }),
    ...gates.flatMap((gate, index) => [...part(index), gate]),
    delta({}, 'stop'),
    { choices: [], usage },
    doneFrame,
  ])
}

const sequenceOf = ({ events }: StreamedEvents) => events.map(({ sequence_number }) => sequence_number)

testSharedDatabases((create) => {
  test('a run is followed at another process from any event on: none is missing, none comes twice', async () => {
    const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
    const script = gatedParts(
      30,
      gates.map(({ promise }) => promise),
    )
    const { start } = await prepareRunGateways(await create(), script)
    const [owner, other] = await Promise.all([start(), start()])
    const { id } = await queueRun(owner)
    const follow = (app = other, after = -1) => replayResponse(app, id, `starting_after=${after}`)
    const readers = [follow(), follow(other, 20), follow(owner)]
    for (const [index, { resolve }] of gates.entries()) {
      await waitForOutput(other, id, `${index}.29 `)
      readers.push(follow(), follow(other, 50))
      resolve()
    }
    const [all, after20, atOwner, ...later] = await Promise.all(readers)
    expect(all?.last).toMatchObject({ status: 'completed' })
    expect(sequenceOf(all!)).toEqual([...all!.events.keys()])
    expect(all!.events.length).toBeGreaterThan(120)
    expect(atOwner!.events).toEqual(all!.events)
    expect(after20!.events).toEqual(all!.events.slice(21))
    for (const [index, reader] of later.entries())
      expect(reader.events).toEqual(all!.events.slice(index % 2 === 0 ? 0 : 51))
    // Afterwards it is replayed from its complete log.
    for (const app of [owner, other]) expect((await follow(app)).text).toBe(all!.text)
  })

  test('a queued run is followed at a third process until another one has executed it', async () => {
    const { start, upstream } = await prepareRunGateways(await create(), endlessReply)
    const [owner, third] = await Promise.all([start(), start()])
    const busy = [await queueRun(owner), await queueRun(third)]
    await upstream.request(1)
    const reply = await owner.request(responsesPath, {
      method: 'POST',
      body: { model: 'acme/river', input: 'b', background: true, stream: true },
    })
    const streamed = readPieces(reply)
    const opening = await streamed.until('response.queued')
    const id = /resp_\w+/.exec(opening)?.[0] ?? ''
    const followed = readPieces(await third.request(`${responsesPath}/${id}?stream=true`))
    await followed.until('response.queued')
    upstream.respondWith(streamReply())
    await start()
    expect(opening + (await streamed.rest())).toBe((await replayResponse(third, id)).text)
    expect(await followed.rest()).toContain('response.completed')
    for (const run of busy) await cancelledRun(third, run.id)
  })

  test('those who follow a run at another process read its end when it is cancelled', async () => {
    const { start } = await prepareRunGateways(await create(), endlessReply)
    const [app, other] = await Promise.all([start(), start()])
    const id = await startRun({ app })
    const followed = replayResponse(other, id)
    await waitForOutput(other, id, 'It is ')
    const cancelled = await cancelledRun(other, id)
    const { types, last, text } = await followed
    expect(types.at(-1)).toBe('response.incomplete')
    expect(last).toEqual(cancelled)
    expect(text).toBe((await replayResponse(app, id)).text)
  })

  test('output is read at another process before the provider sends more', async () => {
    const gates = Array.from({ length: 20 }, () => Promise.withResolvers<void>())
    const script = gatedParts(
      1,
      gates.map(({ promise }) => promise),
    )
    const { start } = await prepareRunGateways(await create(), script)
    const [owner, other] = await Promise.all([start(), start()])
    const { id } = await queueRun(owner)
    const path = `${responsesPath}/${id}?stream=true`
    const [atOwner, atOther] = [await owner.request(path), await other.request(path)].map(readPieces)
    for (const [index, { resolve }] of gates.entries()) {
      await atOwner!.until(`${index}.0 `)
      await atOther!.until(`${index}.0 `)
      resolve()
    }
    expect(textOf((await replayResponse(other, id)).last!)).toContain('19.0')
  })
})
