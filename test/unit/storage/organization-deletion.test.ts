import { expect, test } from 'bun:test'
import {
  createOrganizationDeletions,
  indexedRows,
} from '../../../src/storage/scripts/organization-deletion.ts'
import { scannedRows } from '../../../src/storage/scripts/scanned-rows.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { stepRows } from '../../../src/storage/common/store-limits.ts'
import { plansOf } from '../../support/query-plans.ts'
import { testStorage } from './support/folder.ts'
import { expectConsistentLedger } from './support/ledger-fixture.ts'
import { fillOrganization, ownedTables, rowsOf } from './support/organization-rows.ts'
import { testChange } from '../../support/actor.ts'

/** Two organizations with so many rows each in each table, and what each transaction has changed. */
async function filled(rows: number) {
  const { database, writer } = testStorage()
  const { sqlite } = database
  const changes: number[] = []
  const total = () => Number(sqlite.query('SELECT total_changes()').values()[0]?.[0])
  const counting = {
    write: <T>(work: () => T) =>
      writer.write(() => {
        const before = total()
        const value = work()
        changes.push(total() - before)
        return value
      }),
  }
  const organizations = createOrganizations(createScriptRunner(database, counting), testChange)
  const [acme, other] = [await organizations.create('acme'), await organizations.create('other')]
  fillOrganization(sqlite, acme.id, other.id, rows)
  changes.length = 0
  const deletions = createOrganizationDeletions(createScriptRunner(database, counting))
  return { database, sqlite, writer, organizations, deletions, acme, other, changes }
}

const none = ownedTables.map(() => 0)
/** A completion has a row beside its own in the index, which counts as some. */
const maxChanges = 5 * stepRows

test('a large organization is deleted in small steps, with other writes between them', async () => {
  const rows = 2500
  const { sqlite, writer, organizations, acme, other, changes } = await filled(rows)
  const waits: number[] = []
  const deleting = { over: false }
  const others = (async () => {
    while (!deleting.over) {
      const before = changes.length
      await writer.write(() => {})
      waits.push(changes.length - before)
      await Bun.sleep(0)
    }
  })()
  const received: number[] = []
  const deleted = await organizations.delete('acme', (rows) => void received.push(rows))
  deleting.over = true
  await others

  expect(deleted).toMatchObject({ id: acme.id, name: 'acme', balance: 2n * BigInt(rows) })
  expect(rowsOf(sqlite, acme.id)).toEqual(none)
  expect(rowsOf(sqlite, other.id)).toEqual(ownedTables.map(() => rows))
  expect(received.reduce((sum, count) => sum + count, 0)).toBe(rows * ownedTables.length)
  expect(Math.max(...received)).toBeLessThanOrEqual(stepRows)
  expect(Math.max(...changes)).toBeLessThanOrEqual(maxChanges)
  expect(waits.length).toBeGreaterThan(received.length / 4)
  expect(Math.max(...waits)).toBeLessThanOrEqual(1)
  expect(sqlite.query('SELECT count(*) FROM completion_terms').values()).toEqual([[rows]])
  expect((await organizations.list()).map(({ name }) => name)).toEqual(['other'])
  expectConsistentLedger(sqlite)
})

test('the log pieces of one run are deleted in steps, too, and so are large rows', async () => {
  const { sqlite, organizations, deletions, acme, changes } = await filled(1)
  const [id] = sqlite.query('SELECT id FROM responses WHERE organization_id = ?').values(acme.id).flat()
  sqlite.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    INSERT INTO response_log SELECT ?, i, '' FROM n`,
    [String(id)],
  )
  const large = `'${'x'.repeat(3 * 1024 ** 2)}'`
  for (const call of ['a', 'b', 'c'])
    sqlite.run(`INSERT INTO provider_state VALUES (?, ?, 'gemini', ${large}, 9e15)`, [acme.id, call])
  await organizations.beginDeletion('acme')
  const received: number[] = []
  for await (const rows of deletions.steps(acme.id)) received.push(rows)
  const others = [1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1]
  expect(received.filter((rows) => rows > 0)).toEqual([1, ...Array(5).fill(stepRows), ...others])
  expect(Math.max(...changes)).toBeLessThanOrEqual(maxChanges)
  expect(rowsOf(sqlite, acme.id)).toEqual(none)
  expect(sqlite.query('SELECT count(*) FROM response_log').values()).toEqual([[0]])
})

test('an interrupted deletion is continued by the next one, or by a sweep', async () => {
  const { sqlite, organizations, deletions, acme, other } = await filled(1000)
  for (const [organization, finish] of [
    [acme, () => organizations.delete(acme.name)],
    [
      other,
      async () => {
        while ((await deletions.continue()) > 0);
      },
    ],
  ] as const) {
    await organizations.beginDeletion(organization.name)
    for await (const _ of deletions.steps(organization.id)) break
    expect(rowsOf(sqlite, organization.id)[0]).toBeLessThan(1000)
    await finish()
    expect(rowsOf(sqlite, organization.id)).toEqual(none)
  }
  expect(await organizations.list()).toEqual([])
  expect(await deletions.continue()).toBe(0)
  expectConsistentLedger(sqlite)
})

test('an organization is not found once its deletion has begun, and its name is free at the end', async () => {
  const { organizations, acme } = await filled(10)
  await organizations.beginDeletion('acme')
  expect((await organizations.list()).map(({ name }) => name)).toEqual(['other'])
  const gone = 'There is no organization acme.'
  await expect(organizations.credit('acme', 1n)).rejects.toThrow(gone)
  await expect(organizations.change('acme', { billing: 'none' })).rejects.toThrow(gone)
  await expect(organizations.create('acme')).rejects.toThrow(
    'still being deleted. To finish the deletion, run: weir orgs delete acme --yes',
  )
  await organizations.delete('acme')
  await expect(organizations.delete('acme')).rejects.toThrow(gone)
  expect((await organizations.create('acme')).id).not.toBe(acme.id)
})

test('every statement of a deletion finds its rows by an index, or reads a range of a table', async () => {
  const { database, acme } = await filled(1)
  const [from, to] = [
    { time: 0, id: '' },
    { time: 1, id: 'x' },
  ]
  const plans = plansOf(database, ({ run }) => {
    // The first step of the responses deletes their log, the second one themselves.
    for (const deleteSome of [...indexedRows, ...indexedRows]) run(deleteSome(acme.id))
    for (const { endOf, find, remove } of scannedRows) {
      run(endOf(from))
      run(find(acme.id, from, to))
      run(remove(acme.id, from, to))
    }
  })
  for (const [text, plan] of [...plans].filter(([text]) => text !== 'select 1')) {
    const scans = plan.split('; ').filter((step) => step.startsWith('SCAN') && !/json_each/.test(step))
    expect([text, scans]).toEqual([text, []])
    expect([text, plan]).toEqual([text, expect.stringContaining('SEARCH')])
    expect([text, plan]).toEqual([text, expect.not.stringMatching(/TEMP B-TREE|BLOOM/)])
  }
})
