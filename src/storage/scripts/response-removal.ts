import { eq, isNull, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { startOfIds } from '../../lib/id.ts'
import { createEraser } from '../common/eraser.ts'
import { Pins } from '../common/pins.ts'
import { isExhausted, newStep, spend, type Step, stepRows } from '../common/store-limits.ts'
import type { RemovalResult, ResponseKey, Responses } from '../ports/responses.ts'
import { isFinished, responseBytes, type ResponseDeletion, responses } from '../schema/stored.ts'
import { returning, select, update } from '../sql.ts'
import { type Dialect, type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'

/** How erasures are delayed in a database that several processes use. */
export type ErasureDelay = {
  readonly delayMs: number
  /**
   * Hides a response that may be erased after the delay, unless another process postpones that: it may be about to store a
   * response that follows. Returns its bytes.
   */
  hide(response: ResponseKey): Script<number>
  /** Postpones the erasure of those of the responses that are hidden. */
  postpone(ids: readonly string[]): Script<void>
}

/** `written` resolves when the writes that were begun before are committed. Without a delay, this is the only process. */
export type RemovalOptions = {
  readonly written: () => Promise<unknown>
  readonly delay?: ErasureDelay | undefined
}

type Removals = Pick<Responses, 'pin' | 'remove' | 'expire'> & {
  /** Postpones the erasure of what this process has pinned; does nothing without a delay. */
  postponeErasures(): Promise<void>
}

/**
 * Hides responses, and erases those that no response follows. Erasing a response also erases its deleted predecessors that
 * lose their last follower. Whatever exceeds the size of a step, or is pinned, is marked as due and left to later steps;
 * with a delay, so is every response that is hidden.
 */
export function createRemovals(runner: ScriptRunner, { written, delay }: RemovalOptions): Removals {
  const { read, transact, write } = runner
  const pins = new Pins()
  const startErasing = createEraser(
    // Opens a transaction only if something is due.
    async () => ((await read(() => hasDue(pins))) ? await transact(() => eraseDue(pins, newStep())) : 0),
    delay && { delayMs: delay.delayMs, hasDueLater: () => read(hasHidden) },
  )
  // Erases what an earlier process left.
  startErasing()

  return {
    pin: createPinning(pins, written, startErasing),
    async postponeErasures() {
      const ids = pins.all()
      if (delay !== undefined && ids.length > 0) await write(() => delay.postpone(ids))
    },
    async remove(organization, id) {
      const removal = await transact(() => removeResponse({ organization, id }, pins, delay))
      if (removal === 'removed') startErasing()
      return removal
    },
    async expire(before) {
      const removed = await transact(() => expireResponses(startOfIds('resp_', before), pins, delay))
      if (removed > 0) startErasing()
      return removed
    },
  }
}

/** Calls `startErasing` when a response that was removed loses its last pin. */
function createPinning(
  pins: Pins,
  written: () => Promise<unknown>,
  startErasing: () => void,
): Responses['pin'] {
  return (id) => {
    pins.add(id)
    let pinned = true
    const unpin = () => void (pins.remove(id) && startErasing())
    return () => {
      if (!pinned) return
      pinned = false
      // After the writes that this turn of the event loop still starts: one of them may store the response that follows.
      setImmediate(() => void written().then(unpin, unpin))
    }
  }
}

function* removeResponse(key: ResponseKey, pins: Pins, delay?: ErasureDelay): Script<RemovalResult> {
  const [found] = yield* selectVisible(key)
  if (found === undefined) return 'missing'
  if (found.status === 'queued' || found.status === 'in_progress') return 'running'
  yield* hide(key, newStep(), pins, delay)
  return 'removed'
}

const selectVisible = statement((values: Parameters<ResponseKey>, { forUpdate }) =>
  select(
    { status: responses.status },
    sql`from ${responses} ${ofKey(values)} and ${isNull(responses.deletion)} ${forUpdate}`,
  ),
)

/** The condition of one response, which may be hidden. */
export function ofKey(values: Parameters<ResponseKey>): SQL {
  return sql`where ${eq(responses.id, values.id)} and ${eq(responses.organization_id, values.organization)}`
}

/** Removes a response that is not hidden yet. */
function* hide(key: ResponseKey, step: Step, pins: Pins, delay?: ErasureDelay): Script<void> {
  if (delay === undefined) return yield* eraseUpwards(key, step, pins)
  spend(step, yield* delay.hide(key))
}

/** Erases what is due, then removes finished responses with lower ids, oldest first; returns the number of both. */
function* expireResponses(beforeId: string, pins: Pins, delay?: ErasureDelay): Script<number> {
  const step = newStep()
  let count = yield* eraseDue(pins, step)
  while (!isExhausted(step)) {
    const [oldest] = yield* selectOldest({ beforeId })
    if (oldest === undefined) break
    yield* hide(oldest, step, pins, delay)
    count++
  }
  return count
}

const keyFields = { organization: responses.organization_id, id: responses.id }

const selectOldest = statement((values: Parameters<{ beforeId: string }>) =>
  select(
    keyFields,
    sql`from ${responses} where ${responses.id} < ${values.beforeId} and ${isNull(responses.deletion)}
      and ${isFinished} order by ${responses.id} limit 1`,
  ),
)

/** Erases what is due as far as the step goes; returns the number of responses: 0 if none is due that is not pinned. */
function* eraseDue(pins: Pins, step: Step): Script<number> {
  let count = 0
  for (const due of yield* selectDue({ pinned: pins.removed(), limit: stepRows })) {
    if (isExhausted(step)) break
    yield* eraseUpwards(due, step, pins)
    count++
  }
  return count
}

type Due = { readonly pinned: readonly string[]; readonly limit: number }

const selectDue = statement((values: Parameters<Due>, dialect) =>
  select(keyFields, sql`${due(values, dialect)} ${dialect.forUpdate} ${dialect.skipLocked}`),
)

function* hasDue(pins: Pins): Script<boolean> {
  return (yield* findDue({ pinned: pins.removed(), limit: 1 })).length > 0
}

const findDue = statement((values: Parameters<Due>, dialect) => select(keyFields, due(values, dialect)))

function due(values: Parameters<Due>, { isErasable, isOneOf }: Dialect): SQL {
  return sql`from ${responses} where ${responses.deletion} = 'due' and not ${isOneOf(responses.id, values.pinned)}
    and ${isErasable} order by ${responses.id} limit ${values.limit}`
}

/** Whether anything is to be erased, now or later. */
function* hasHidden(): Script<boolean> {
  return (yield* findHidden()).length > 0
}

const findHidden = statement(() =>
  select({ id: responses.id }, sql`from ${responses} where ${responses.deletion} = 'due' limit 1`),
)

/**
 * Erases a response that has no follower, then its predecessor if that is deleted and has no other follower, and so on. A
 * response that is followed, or pinned, is hidden.
 */
function* eraseUpwards({ organization, id: removed }: ResponseKey, step: Step, pins: Pins): Script<void> {
  let next: string | null = removed
  while (next !== null && !isExhausted(step) && !pins.markRemoved(next)) {
    const key: Erasable = { organization, id: next, removed }
    const [erased]: readonly ErasedRow[] = yield* erase(key)
    const [changed] = erased ? [erased] : yield* mark({ ...key, deletion: 'needed' })
    spend(step, changed?.bytes ?? 0)
    next = erased?.previous ?? null
  }
  if (next !== null) yield* mark({ organization, id: next, removed, deletion: 'due' })
}

type ErasedRow = { readonly previous: string | null; readonly bytes: number }

/** `removed` may be visible; the others are changed only if they are deleted. */
type Erasable = ResponseKey & { readonly removed: string }

const follower = alias(responses, 'follower')

const erase = statement((values: Parameters<Erasable>, dialect) =>
  returning(
    { previous: responses.previous_id, bytes: responseBytes },
    sql`delete from ${responses} ${erasable(values, dialect)} and not exists (
      select 1 from ${responses} as follower
      where ${eq(follower.organization_id, values.organization)} and ${eq(follower.previous_id, values.id)})`,
  ),
)

const mark = statement((values: Parameters<Erasable & { deletion: ResponseDeletion }>, dialect) =>
  update(
    responses,
    { deletion: values.deletion },
    returning(
      { bytes: responseBytes },
      sql`${erasable(values, dialect)} and ${responses.deletion} is distinct from ${values.deletion}`,
    ),
  ),
)

function erasable(values: Parameters<Erasable>, { isErasable }: Dialect): SQL {
  return sql`${ofKey(values)} and (${responses.deletion} is not null or ${eq(responses.id, values.removed)})
    and ${isErasable}`
}
