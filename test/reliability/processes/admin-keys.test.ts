import { expect, test } from 'bun:test'
import { waitUntil } from '../../support/billing-database.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { connectDatabase } from '../../support/database-connection.ts'
import { prepareGateways } from './support/processes.ts'
import { testSharedDatabases } from './support/shared-database.ts'

testSharedDatabases((create) => {
  test('an admin key opens every server of a database, until it is revoked in all of them', async () => {
    const database = await create()
    const { start } = await prepareGateways(database, jsonReply())
    const apps = [await start(), await start()]
    await using connection = await connectDatabase(database.location)
    const { record, key } = await connection.adminKeys.create({ name: 'ada', expiresAt: null })
    const headers = { authorization: `Bearer ${key.reveal()}` }
    const statuses = () =>
      Promise.all(apps.map(async (app) => (await app.request('/admin/keys', { headers })).status))
    expect(await statuses()).toEqual([200, 200])
    await connection.adminKeys.revoke(record.id)
    await waitUntil(async () => (await statuses()).every((status) => status === 401), 'both reject the key')
  })
})
