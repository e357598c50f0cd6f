import { expect, spyOn, test } from 'bun:test'
import {
  clientReports,
  maxOwnReports,
  maxReports,
  operatorReports,
  type ReportLimits,
  ReportSlots,
} from '../../../src/storage/usage/report-slots.ts'

test('a report is rejected while too many are open, and the next one is read', async () => {
  const reports = new ReportSlots(clientReports)
  const gate = Promise.withResolvers<void>()
  const open = Array.from({ length: maxReports }, (_, index) =>
    reports.run(`org_${index % 10}`, () => gate.promise),
  )
  await expect(reports.run('org', async () => 'read')).rejects.toMatchObject({ status: 503 })
  gate.resolve()
  await Promise.all(open)
  expect(await reports.run('org', async () => 'read')).toBe('read')
})

test('two reports take turns step by step, and a third one waits for the end of one of them', async () => {
  const reports = new ReportSlots(clientReports)
  const done: string[] = []
  const read = (name: string) =>
    reports.run(name, async ({ step }) => {
      for (let index = 0; index < 3; index++) await step(() => done.push(name))
    })
  const reading = [read('one'), read('two'), read('three')]
  await new Promise(setImmediate)
  expect(done.length).toBeLessThan(6)
  await Promise.all(reading)
  expect(done).toEqual(['one', 'two', 'one', 'two', 'one', 'two', 'three', 'three', 'three'])
})

test('a report that waits for longer than one may take is rejected, and so is a step that comes too late', async () => {
  const reports = new ReportSlots({ ...clientReports, maxReportMs: 20 })
  const gate = Promise.withResolvers<void>()
  const running = ['one', 'two'].map((owner) =>
    reports.run(owner, async ({ step }) => {
      await gate.promise
      await step(() => {})
    }),
  )
  await expect(reports.run('three', async () => 'read')).rejects.toMatchObject({ status: 503 })
  gate.resolve()
  const ended = await Promise.allSettled(running)
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  for (const result of ended) expect(result).toMatchObject({ reason: { status: 503 } })
})

test('an organization with many reports delays none of another, and has a bound of its own', async () => {
  const reports = new ReportSlots(clientReports)
  const gate = Promise.withResolvers<void>()
  const done: string[] = []
  const read = (owner: string, name = owner) => reports.run(owner, async () => void done.push(name))
  const first = reports.run('busy', () => gate.promise)
  const waiting = Array.from({ length: maxOwnReports - 1 }, (_, index) => read('busy', `busy ${index}`))
  await expect(read('busy')).rejects.toMatchObject({ status: 503 })
  await Promise.all([read('one'), read('two'), read('one', 'one again')])
  expect(done).toEqual(['one', 'two', 'one again'])
  gate.resolve()
  await Promise.all([first, ...waiting])
  expect(done.slice(3)).toEqual(waiting.map((_, index) => `busy ${index}`))
})

test('a report of the command line that takes too long names the flags that make it shorter', async () => {
  const reports = new ReportSlots({ ...operatorReports, maxReportMs: 0 })
  const late = reports.run('', async ({ step }) => step(() => {}))
  await expect(late).rejects.toThrow('Report a shorter period with --since, or one organization with --org.')
  await expect(late).rejects.not.toHaveProperty('status')
})

test('a report of a server pauses after a step once it has worked for a while, one of the command line never', async () => {
  const { setTimeout: start } = globalThis
  let pauses = 0
  // Only those of reports: what another file of this process has left behind may have timers, too.
  using _timers = spyOn(globalThis, 'setTimeout').mockImplementation(((
    ...timer: Parameters<typeof start>
  ) => {
    if (new Error().stack?.includes('report-slots.ts')) pauses++
    return start(...timer)
  }) as typeof start)
  const pausesOf = async (limits: ReportLimits) => {
    const before = pauses
    await new ReportSlots(limits).run('', async ({ step }) => {
      for (let index = 0; index < 3; index++) await step(() => {})
    })
    return pauses - before
  }
  // Any work is longer.
  expect(await pausesOf({ ...clientReports, eagerMs: -1 })).toBe(3)
  expect(await pausesOf(operatorReports)).toBe(0)
  expect(operatorReports.eagerMs).toBe(Infinity)
})
