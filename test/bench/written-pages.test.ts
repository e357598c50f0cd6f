import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { startBillingScenario } from '../support/billing-scenario.ts'
import { temporaryFolder } from '../unit/storage/support/folder.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { chatRequest, type Scenario, startScenario } from '../support/scenario.ts'
import { sqliteFile } from '../support/database-connection.ts'

const requests = 50
/** What the log of the database takes for a page of 4 KiB. */
const frame = 4096 + 24

test('a request writes one page of the database, that of its usage row', async () => {
  const database = join(temporaryFolder(), 'weir.db')
  await using gateway = await startScenario(jsonReply(), { database })
  const pages = await pagesOfEach(gateway, database)
  expect(pages).toBeGreaterThanOrEqual(1)
  // Once in a while a page is full, and another one begins.
  expect(pages).toBeLessThanOrEqual(1.5)
})

test('a paid request writes two pages for its reservation, and four at its end', async () => {
  await using gateway = await startBillingScenario(jsonReply(), { balance: '1000' })
  const pages = await pagesOfEach(gateway, sqliteFile(gateway.database))
  expect(pages).toBeGreaterThanOrEqual(6)
  expect(pages).toBeLessThanOrEqual(7.5)
})

async function pagesOfEach({ app }: Scenario, database: string): Promise<number> {
  const size = () => statSync(`${database}-wal`).size
  const before = size()
  for (let count = 0; count < requests; count++) expect((await app.chat(chatRequest)).status).toBe(200)
  return (size() - before) / frame / requests
}
