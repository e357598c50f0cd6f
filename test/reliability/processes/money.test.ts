import { expect, test } from 'bun:test'
import { readPieces } from '../../support/body-reader.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { maxCost, promptCost, replyCost } from '../../support/billing-scenario.ts'
import { chatOutput, chunks, delta, jsonReply } from '../../support/chat-fixtures.ts'
import { hang, jsonPieces } from '../../support/script.ts'
import { expectConsistent } from '../../unit/storage/support/ledger-fixture.ts'
import { prepareGateways, sendChat } from './support/processes.ts'
import { type SharedDatabase, testSharedDatabases } from './support/shared-database.ts'

async function accountOf(database: SharedDatabase): Promise<readonly number[]> {
  const [row] = await database.rows('SELECT balance, reserved FROM organizations')
  return [Number(row?.balance), Number(row?.reserved)]
}

testSharedDatabases((create) => {
  test('a balance for seven requests lets exactly seven of thirty pass, which three processes receive at once', async () => {
    const database = await create()
    const decided = Promise.withResolvers<void>()
    const body = JSON.stringify(chatOutput())
    const { start, upstream } = await prepareGateways(database, jsonPieces([decided.promise, body]))
    const apps = await Promise.all([start(), start(), start()])
    await database.fund(BigInt(7 * maxCost + maxCost - 1))
    const statuses: number[] = []
    const replies = Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const { status } = await sendChat(apps[index % 3] ?? apps[0])
        statuses.push(status)
      }),
    )
    await waitUntil(() => statuses.length === 23, 'the others are rejected')
    expect(new Set(statuses)).toEqual(new Set([402]))
    decided.resolve()
    await replies
    expect(statuses.filter((status) => status === 200)).toHaveLength(7)
    expect(upstream.requests).toHaveLength(7)
    expect(await accountOf(database)).toEqual([8 * maxCost - 1 - 7 * replyCost, 0])
    await expectConsistent(database)
  })

  test('what a killed and a suspended process left open is settled by another one, once', async () => {
    const database = await create()
    const { start, spawn, upstream } = await prepareGateways(
      database,
      chunks([delta({ role: 'assistant', content: 'It is ' })], hang),
    )
    const survivor = await start()
    const [killed, suspended] = await Promise.all([spawn(), spawn()])
    const balance = 100 * maxCost
    await database.fund(BigInt(balance))
    const gateways = [...Array<typeof killed>(20).fill(killed), ...Array<typeof killed>(10).fill(suspended)]
    const streams = await Promise.all(gateways.map((gateway) => sendChat(gateway, { stream: true })))
    const own = await sendChat(survivor, { stream: true })
    const readers = [...streams, own].map(readPieces)
    await Promise.all(readers.map((reader) => reader.until('It is ')))
    expect(await accountOf(database)).toEqual([balance, 31 * maxCost])

    process.kill(killed.pid, 'SIGKILL')
    process.kill(suspended.pid, 'SIGSTOP')
    const isSettled = async () => (await accountOf(database))[1] === maxCost
    await waitUntil(isSettled, 'all but the request of the survivor are settled')
    const removed = survivor.lines.filter((line) => line.includes('was evicted')).join('\n')
    expect(removed.match(/on this machine was killed or crashed/g)).toHaveLength(1)
    expect(removed.match(/No heartbeat of a process for 4 s/g)).toHaveLength(1)
    const settled = [balance - 30 * promptCost, maxCost]
    expect(await accountOf(database)).toEqual(settled)

    process.kill(suspended.pid, 'SIGCONT')
    // Its streams end: with an error, because they were not complete.
    const ends = await Promise.all(readers.slice(20, 30).map((reader) => reader.rest()))
    for (const end of ends) expect(end).toContain('"error"')
    upstream.respondWith(jsonReply())
    const serves = async () => (await sendChat(suspended)).status === 200
    await waitUntil(serves, 'the suspended process serves again')
    await waitUntil(async () => (await accountOf(database))[1] === maxCost, 'its new request is settled')
    const [left = 0] = await accountOf(database)
    expect(left).toBe(balance - 30 * promptCost - replyCost)
    const usage = await database.rows(
      'SELECT error, count(*) count FROM usage WHERE status <> 503 GROUP BY error',
    )
    expect(new Map(usage.map(({ error, count }) => [error, Number(count)]))).toEqual(
      new Map<unknown, number>([
        ['interrupted', 30],
        [null, 1],
      ]),
    )
    expect(await database.rows('SELECT id FROM processes')).toHaveLength(2)
    await expectConsistent(database)
  }, 120_000)
})
