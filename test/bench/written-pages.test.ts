import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { type BillingScenario, startBillingScenario } from '../support/billing-scenario.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { chatRequest } from '../support/scenario.ts'
import { sqliteFile } from '../support/database-connection.ts'

const requests = 50
/** What the log of the database takes for a page of 4 KiB. */
const frame = 4096 + 24

test('requests share the pages of the database that their usage rows take', async () => {
  await using gateway = await startBillingScenario(jsonReply(), { balance: '1' })
  await gateway.billing.fund('default', '0', 'unmetered')
  const pages = await pagesOfEach(gateway, sqliteFile(gateway.database))
  expect(pages).toBeGreaterThan(0)
  // One request alone would write a page.
  expect(pages).toBeLessThanOrEqual(1)
})

test('a paid request writes two pages for its reservation, and four at its end', async () => {
  await using gateway = await startBillingScenario(jsonReply(), { balance: '1000' })
  const pages = await pagesOfEach(gateway, sqliteFile(gateway.database))
  expect(pages).toBeGreaterThanOrEqual(6)
  expect(pages).toBeLessThanOrEqual(7.5)
})

async function pagesOfEach({ app, billing }: BillingScenario, database: string): Promise<number> {
  const size = () => statSync(`${database}-wal`).size
  const before = size()
  for (let count = 0; count < requests; count++) expect((await app.chat(chatRequest)).status).toBe(200)
  await billing.waitForUsage(requests)
  return (size() - before) / frame / requests
}
