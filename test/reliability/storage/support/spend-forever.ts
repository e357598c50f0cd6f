import { isReserved } from '../../../support/is-reserved.ts'
import { silentLog } from '../../../../src/lib/log.ts'
import { createLedger } from '../../../../src/storage/sqlite/ledger.ts'
import { openDatabase } from '../../../../src/storage/sqlite/connection/database.ts'
import { Writer } from '../../../../src/storage/sqlite/writer.ts'
import { requestOf } from '../../../unit/storage/support/ledger-fixture.ts'

// Reserves and settles for the given organizations until it is killed, and prints what is acknowledged.
const [file = '', ...organizations] = process.argv.slice(2)
const database = openDatabase(file, silentLog)
const ledger = createLedger(database, new Writer(database))

async function spendOn(organization: string): Promise<never> {
  for (let count = 0; ; count++) {
    // Every other request counts against a budget.
    const counted = count % 2 === 1
    const budgets = counted ? [{ owner: organization, start: 0, limit: 10n ** 9n }] : []
    const request = { ...requestOf(organization), ...(counted && { key: 'counted' }) }
    const [amount, cost] = [randomNanos(), randomNanos()]
    const reservation = { request, amount, promptCost: amount / 10n, promptTokens: 1, budgets }
    if (!(await isReserved(ledger, reservation))) continue
    process.stdout.write(`reserved ${request.id} ${amount / 10n}\n`)
    await ledger.settle(request, { status: 200, cost })
    process.stdout.write(`settled ${request.id} ${cost}\n`)
  }
}

function randomNanos(): bigint {
  return BigInt(Math.floor(Math.random() * 1000))
}

await Promise.all(
  organizations.flatMap((organization) => Array.from({ length: 8 }, () => spendOn(organization))),
)
