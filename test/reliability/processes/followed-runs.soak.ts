import { expect, test } from 'bun:test'
import { queueRun } from '../../support/background.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, doneFrame } from '../../support/chat-fixtures.ts'
import { responsesPath } from '../../support/responses.ts'
import { realTiming, prepareGateways } from './support/processes.ts'
import { testSharedDatabases } from './support/shared-database.ts'

const parts = 20

testSharedDatabases((create) => {
  test('output is read at another process within a second of its owner', async () => {
    const gates = Array.from({ length: parts }, () => Promise.withResolvers<void>())
    const frames = gates.flatMap(({ promise }, index) => [delta({ content: `${index}. ` }), promise])
    const script = chunks([
      delta({ role: 'assistant', content: '' }),
      ...frames,
      delta({}, 'stop'),
      doneFrame,
    ])
    const { start } = await prepareGateways(await create(), script, {}, realTiming)
    const [owner, other] = await Promise.all([start(), start()])
    const { id } = await queueRun(owner)
    const path = `${responsesPath}/${id}?stream=true`
    const [atOwner, atOther] = [await owner.request(path), await other.request(path)].map(readPieces)
    const delays: number[] = []
    for (const [index, { resolve }] of gates.entries()) {
      await atOwner!.until(`"${index}. `)
      const receivedAt = performance.now()
      await atOther!.until(`"${index}. `)
      delays.push(performance.now() - receivedAt)
      resolve()
    }
    console.log(delays.map(Math.round).join(' '))
    expect(delays.toSorted((one, two) => one - two)[parts / 2]).toBeLessThan(1000)
  })
})
