import { expect, test } from 'bun:test'
import type { ResponseObject } from '../../../src/api/responses/render/reply-schema.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { testsUsePostgres } from '../../support/postgres/server.ts'
import { cancelRun, deleteRun, queueRunRequest } from '../../support/background.ts'
import { readEvents, replayResponse, responsesPath } from '../../support/responses.ts'
import { roundsOf, testSeed } from '../../support/seed.ts'
import { randomFrom } from '../../unit/providers/protocols/support/random.ts'
import { backgroundScenario, concurrency, type ModelRun } from '../support/background-scenario.ts'

const steps = roundsOf(200, 400)

test(`random actions on runs keep their states valid, and every kind of action is performed (seed ${testSeed})`, async () => {
  const random = randomFrom(testSeed)
  await using scenario = await backgroundScenario(random)
  const runs: ModelRun[] = []
  const acting = actions(scenario, runs, random)
  for (let step = 0; step < steps; step++) {
    const draw = random()
    // Some come in the same turn.
    const together = random() < 0.3 ? 3 : 1
    if (draw < 0.02) await scenario.restart()
    else await Promise.all(Array.from({ length: together }, acting.one))
    await expectOrder(scenario)
  }
  scenario.calm()
  for (const run of runs.filter(({ deleted }) => !deleted).slice(-5)) await cancelRun(scenario.app(), run.id)
  // What hangs for good is ended by a restart; what waits is done after it.
  await scenario.restart()
  await waitUntil(async () => (await unfinished(scenario)).length === 0, 'the end of every run')
  await scenario.books.waitForUsage(runs.length)
  for (const run of runs) await expectEnd(scenario, run)
  expect((await scenario.books.account())[1]).toBe(0)
  await scenario.books.expectConsistent()
  const performed = Object.entries(acting.tally)
  expect(performed).toHaveLength(7)
  for (const [action, count] of performed) expect([action, count > 0]).toEqual([action, true])
}, 120_000)

type World = Awaited<ReturnType<typeof backgroundScenario>>

const order = ['queued', 'in_progress', 'completed', 'failed', 'incomplete']

function actions(scenario: World, runs: ModelRun[], random: () => number) {
  const tally = { created: 0, found: 0, followed: 0, cancelled: 0, refused: 0, deleted: 0, kept: 0 }
  const pick = () => runs[Math.floor(runs.length * (1 - random() ** 2 * 0.6) - 0.001)]

  async function create(): Promise<void> {
    const known = runs.findLast((run) => !run.deleted && run.last.status === 'completed')
    const previous = random() < 0.3 ? known?.id : undefined
    const created = await queueRunRequest(scenario.app(), { previous_response_id: previous }).catch(
      expectPreviousGone,
    )
    tally.created++
    if (created === undefined) return
    const reply = await scenario.app().request(`${responsesPath}/${created.id}`)
    runs.push({ ...created, last: (await reply.json()) as ResponseObject, deleted: false, deleting: 0 })
  }

  async function find(run: ModelRun): Promise<void> {
    const reply = await scenario.app().request(`${responsesPath}/${run.id}`)
    if (reply.status === 404) return expectDeleted(run)
    note(run, (await reply.json()) as ResponseObject)
    tally.found++
  }

  /** Its events so far, without a gap. */
  async function follow(run: ModelRun): Promise<void> {
    const aborting = new AbortController()
    const path = `${responsesPath}/${run.id}?stream=true`
    const reply = await scenario.app().request(path, { signal: aborting.signal })
    if (reply.status === 404) return expectDeleted(run)
    const reader = reply.body!.getReader()
    const text = new TextDecoder().decode((await reader.read()).value)
    aborting.abort()
    const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map((match) => Number(match[1]))
    expect(numbers).toEqual([...numbers.keys()])
    tally.followed++
  }

  async function cancel(run: ModelRun): Promise<void> {
    const reply = await cancelRun(scenario.app(), run.id)
    const received = (await reply.json()) as ResponseObject
    if (reply.status === 404) return expectDeleted(run)
    if (reply.status === 400) {
      tally.refused++
      if (order.indexOf(run.last.status) > 1) expect(['completed', 'failed']).toContain(run.last.status)
      return
    }
    expect([reply.status, received.status]).toEqual([200, 'incomplete'])
    note(run, received)
    tally.cancelled++
  }

  async function remove(run: ModelRun): Promise<void> {
    const finished = order.indexOf(run.last.status) > 1
    run.deleting++
    const reply = await deleteRun(scenario.app(), run.id)
    if (reply.status === 200) {
      run.deleted = true
      tally.deleted++
    } else if (reply.status === 404) expectDeleted(run, 1)
    else {
      expect([run.id, reply.status, finished]).toEqual([run.id, 400, false])
      tally.kept++
    }
    run.deleting--
  }

  async function one(): Promise<void> {
    const run = pick()
    const draw = random()
    if (run === undefined || draw < 0.3) return create()
    if (draw < 0.5) return void scenario.release()
    if (draw < 0.65) return find(run)
    if (draw < 0.75) return follow(run)
    return draw < 0.88 ? cancel(run) : remove(run)
  }

  return { one, tally }
}

/** Another action of this turn has deleted it. */
function expectPreviousGone(error: unknown): undefined {
  expect(String(error)).toContain('previous_response_not_found')
}

/** It is deleted, or about to be by another action than so many. */
function expectDeleted({ id, deleted, deleting }: ModelRun, own = 0): void {
  expect([id, deleted || deleting > own]).toEqual([id, true])
}

/** A run goes forward only, and what is over stays as it is. */
function note(run: ModelRun, received: ResponseObject): void {
  const [before, now] = [order.indexOf(run.last.status), order.indexOf(received.status)]
  if (before > 1 && now > 1) expect(received).toEqual(run.last)
  if (now > before) run.last = received
}

async function unfinished({ books: billing }: World): Promise<unknown[]> {
  return await billing.values("SELECT id FROM responses WHERE status IN ('queued', 'in_progress')")
}

/**
 * No more are under way than may be, and none has passed one that came before it. In PostgreSQL, runs that are created at
 * the same moment may start in any order.
 */
async function expectOrder({ books: billing }: World): Promise<void> {
  const rows = await billing.values(
    "SELECT id, status FROM responses WHERE status IN ('queued', 'in_progress') ORDER BY id",
  )
  const ids = (wanted: string) => rows.filter(([, status]) => status === wanted).map(([id]) => String(id))
  const [running, queued] = [ids('in_progress'), ids('queued')]
  expect(running.length).toBeLessThanOrEqual(concurrency)
  if (!testsUsePostgres && running.length > 0 && queued.length > 0)
    expect(String(running.at(-1)) < String(queued[0])).toBe(true)
  await billing.expectConsistent()
}

/** In the end it is over or gone, and its usage and charge are those of what is told. */
async function expectEnd(
  { app, books: billing }: World,
  { id, request, last, deleted }: ModelRun,
): Promise<void> {
  const row = await billing.usageOf(request)
  expect([request, 1 + (row?.cost ?? 0)]).toEqual([
    request,
    1 - ((await billing.entriesOf(request)).charge ?? 0),
  ])
  const reply = await app().request(`${responsesPath}/${id}`)
  if (deleted) return expect([id, reply.status === 404]).toEqual([id, true])
  const found = (await reply.json()) as ResponseObject
  if (order.indexOf(last.status) > 1) expect(found).toEqual(last)
  const { events, last: received } = await readEvents(
    await app().request(`${responsesPath}/${id}?stream=true`),
  )
  expect(received).toEqual(found)
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()])
  expect((await replayResponse(app(), id, 'starting_after=1')).events).toEqual(events.slice(2))
  const known = { completed: [200, null], incomplete: [499, 'cancelled'] }[found.status as 'completed']
  if (known) expect([id, row?.status, row?.error]).toEqual([id, ...known] as [string, number, string | null])
  else expect([502, 503]).toContain(row!.status)
}
