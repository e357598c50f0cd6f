import { expect, test } from 'bun:test'
import { maxReports } from '../../../src/storage/common/report-limits.ts'
import { ReportSlots } from '../../../src/storage/postgres/usage/report-slots.ts'
import { ReportTurns } from '../../../src/storage/sqlite/usage/turns.ts'

test.each([
  ['SQLite', () => new ReportTurns()],
  ['PostgreSQL', () => new ReportSlots()],
])('in %s, a report is rejected while too many are open, and the next one is read', async (_, create) => {
  const reports = create()
  const gate = Promise.withResolvers<void>()
  const open = Array.from({ length: maxReports }, () => reports.run(() => gate.promise))
  await expect(reports.run(async () => 'read')).rejects.toMatchObject({ status: 503 })
  gate.resolve()
  await Promise.all(open)
  expect(await reports.run(async () => 'read')).toBe('read')
})

test('in SQLite, another report takes its turn after each step of a report', async () => {
  const turns = new ReportTurns()
  const done: string[] = []
  const read = (name: string) =>
    turns.run(async (step) => {
      for (let index = 0; index < 3; index++) await step(() => done.push(name))
    })
  const reading = [read('one'), read('two')]
  await new Promise(setImmediate)
  expect(done.length).toBeLessThan(6)
  await Promise.all(reading)
  expect(done).toEqual(['one', 'two', 'one', 'two', 'one', 'two'])
})
