import type { ModelRegistry } from '../../gateway/models/model-registry.ts'
import { monotonicNow } from '../../lib/time.ts'
import type { Provider } from '../../providers/provider.ts'

/** A second request within this time would show nothing new. */
const minIntervalMs = 2000

/** Returns a function that tests a provider: one request at a time for each, and one every two seconds at most. */
export function createProviderTests(
  test: ModelRegistry['test'],
  clock: () => number = monotonicNow,
): (provider: Provider) => Promise<void> {
  const tests = new Map<
    string,
    { readonly startedAt: number; readonly done: Promise<void>; ended: boolean }
  >()
  return (provider) => {
    const last = tests.get(provider.name)
    if (last && (!last.ended || clock() - last.startedAt < minIntervalMs)) return last.done
    const started = { startedAt: clock(), ended: false, done: Promise.resolve() }
    started.done = test(provider).finally(() => {
      started.ended = true
    })
    tests.set(provider.name, started)
    return started.done
  }
}
