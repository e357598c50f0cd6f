import { expect, test } from 'bun:test'
import { queueRun, waitForOutput, waitForRun, gatedReply } from '../../support/background.ts'
import { readPieces } from '../../support/body-reader.ts'
import { maxCost, promptCost } from '../../support/billing-scenario.ts'
import { replayResponse, retrieveResponse, textOf } from '../../support/responses.ts'
import { prepareGateways, sendChat } from './support/processes.ts'
import { endlessReply, prepareRunGateways } from './support/run-gateways.ts'
import { type SharedDatabase, testSharedDatabases } from './support/shared-database.ts'

/** As if the owner of everything that is open had been removed while it was suspended. */
async function loseOwner({ rows }: SharedDatabase): Promise<void> {
  await rows("UPDATE reservations SET process_id = 'gone'")
  await rows("UPDATE runs SET process_id = 'gone'")
}

testSharedDatabases((create) => {
  test('an answer that others have settled ends with an error, because its completion is not stored', async () => {
    const database = await create()
    const gate = Promise.withResolvers<void>()
    const { start } = await prepareGateways(database, gatedReply(gate.promise))
    const owner = await start()
    await database.fund(BigInt(10 * maxCost))
    const reader = readPieces(await sendChat(owner, { stream: true, store: true }))
    await reader.until('It is ')
    await loseOwner(database)
    await start()
    expect(await database.rows('SELECT error FROM usage')).toEqual([{ error: 'interrupted' }])
    gate.resolve()
    const rest = await reader.rest()
    expect(rest).toContain('"code":"interrupted"')
    expect(rest).not.toContain('[DONE]')
    expect(await database.rows('SELECT id FROM completions')).toEqual([])
    const [account] = await database.rows('SELECT balance, reserved FROM organizations')
    expect([Number(account?.balance), Number(account?.reserved)]).toEqual([10 * maxCost - promptCost, 0])
  })

  test('a background run that others have ended has the same end for those who follow it at its owner', async () => {
    const database = await create()
    const { start } = await prepareRunGateways(database, endlessReply)
    const [owner, other] = await Promise.all([start(), start()])
    const { id } = await queueRun(owner)
    // From there on it is stored.
    await waitForOutput(other, id, 'It is ')
    const followed = waitForRun(owner, id)
    await loseOwner(database)
    const ended = await retrieveResponse(await start(), id)
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
    expect([await followed, await retrieveResponse(owner, id)]).toEqual([ended, ended])
  })

  test('a background run that goes on after others have ended it has no other end for those who follow it at its owner', async () => {
    const database = await create()
    const gate = Promise.withResolvers<void>()
    const { start } = await prepareRunGateways(database, gatedReply(gate.promise))
    const [owner, other] = await Promise.all([start(), start()])
    const { id } = await queueRun(owner)
    // From there on it is stored.
    await waitForOutput(other, id, 'It is ')
    const followed = replayResponse(owner, id)
    await loseOwner(database)
    const ended = await retrieveResponse(await start(), id)
    expect([ended.status, textOf(ended)]).toEqual(['failed', 'It is '])
    gate.resolve()
    // The rest of the text is received, but not stored.
    expect((await followed).last).toEqual(ended)
    expect(await retrieveResponse(owner, id)).toEqual(ended)
  })
})
