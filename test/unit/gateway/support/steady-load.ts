import { callerOf } from '../../../support/local-limits.ts'
import type { OpenStore, SharedTestStore } from '../../storage/support/stores.ts'
import { type LeasedOptions, openLeased, refusalOf } from './leased-limits.ts'

/** Limits, and the calls a second that two processes make of them together. */
export type SteadyLoad = LeasedOptions & { readonly rate: number }

/** The renewals of one process in a second. */
export type MeasuredLoad = {
  readonly renewals: number
  readonly calls: number
  /** The calls that waited for a renewal. */
  readonly waiting: number
  readonly rejected: number
}

const processes = 2
/** Until the processes hold what they need. */
const warmUpMs = 500

/** Makes calls as evenly as the machine allows, for so many milliseconds, while the limits refill. */
export async function measureSteadyLoad(
  open: OpenStore<SharedTestStore>,
  { rate, ...limits }: SteadyLoad,
  milliseconds: number,
): Promise<MeasuredLoad> {
  await using leased = await openLeased(open, { ...limits, processes })
  const { all, acme, clock, counts } = leased
  let [calls, waiting, rejected] = [0, 0, 0]
  const [startedAt, origin] = [performance.now(), clock.now]

  async function call(): Promise<void> {
    const admitting = all[calls++ % processes]?.limits.admit(callerOf(acme), () => {}, true)
    const admission = await admitting
    const opening = admission?.open(200)
    if (admitting instanceof Promise || opening instanceof Promise) waiting++
    const slot = await opening
    await Bun.sleep(50 + 10 * (calls % 10))
    slot?.release(350)
  }

  async function callFor(duration: number): Promise<number> {
    const running: Promise<void>[] = []
    const beganAt = performance.now()
    for (let elapsed = 0; elapsed < duration;) {
      elapsed = Math.min(duration, performance.now() - beganAt)
      clock.now = origin + Math.floor(performance.now() - startedAt)
      while (running.length < Math.floor((elapsed * rate) / 1000))
        running.push(refusalOf(call).then((refusal) => void (refusal && rejected++)))
      await Bun.sleep(1)
    }
    await Promise.all(running)
    return performance.now() - beganAt
  }

  await callFor(warmUpMs)
  counts.renewals = 0
  ;[calls, waiting, rejected] = [0, 0, 0]
  const elapsedMs = await callFor(milliseconds)
  return { renewals: (counts.renewals * 1000) / elapsedMs / processes, calls, waiting, rejected }
}
