import type { Settings } from '../config/settings.ts'
import type { NetworkOverrides } from '../gateway/images/pinned-fetch.ts'
import { createRateLimits, type RateLimits } from '../gateway/rate-limits/rate-limits.ts'
import { createOpenCalls, type OpenCalls } from '../gateway/open-calls.ts'
import type { Log } from '../lib/log.ts'
import { MemoryBudget } from '../lib/memory-budget.ts'
import type { Observation } from '../observability/observation.ts'
import type { Requests } from '../observability/requests.ts'
import { createLiveResponses, type LiveResponses } from '../api/responses/live/live-responses.ts'
import type { RunEnvironment } from '../api/responses/background/run.ts'
import { createRuns, type Runs } from '../api/responses/background/runs.ts'
import type { Storage } from '../storage/ports/storage.ts'
import { createMetricsPage, type MetricsPage } from '../api/system/metrics-page.ts'

/** What outlives a change of settings. */
export type SharedServices = {
  readonly storage: Storage
  readonly limits: RateLimits
  /** What requests in flight hold together. */
  readonly memory: MemoryBudget
  readonly live: LiveResponses
  readonly runs: Runs
  readonly calls: OpenCalls
  readonly metrics: MetricsPage
  readonly requests: Requests
  readonly patience: number
  readonly clock: (() => number) | undefined
  readonly images?: NetworkOverrides | undefined
  readonly log: Log
}

export type SharedServicesInput = {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly log: Log
  readonly patience?: number
  readonly clock?: () => number
  readonly images?: NetworkOverrides
}

/** What is in force at the moment. */
type Current = {
  readonly configuration: { readonly settings: Pick<Settings, 'limits' | 'host' | 'memory'> }
  /** What a background run begins with. */
  readonly begin: RunEnvironment
}

/** Milliseconds of silence from a provider that accepted a stream, until the caller gets the status all the same. */
const patience = 10_000

/** `current` is asked only while something is served. */
export function createSharedServices(
  input: SharedServicesInput,
  storage: Storage,
  observation: Observation,
  current: () => Current,
): SharedServices {
  const { environment, images, log } = input
  const settings = () => current().configuration.settings
  const memory = new MemoryBudget(() => settings().memory.inFlight)
  const live = createLiveResponses()
  const runs = createRuns({
    current: () => current().begin,
    responses: storage.responses,
    live,
    keys: storage.keys,
    write: storage.ledger.write,
    log,
  })
  return {
    storage,
    limits: createRateLimits(() => settings().limits, input.clock, undefined, memory),
    memory,
    live,
    runs,
    calls: createOpenCalls(),
    metrics: createMetricsPage(
      observation.metrics,
      environment.WEIR_ADMIN_KEY,
      () => current().configuration.settings.host,
    ),
    requests: observation.requests,
    patience: input.patience ?? patience,
    clock: input.clock,
    images,
    log,
  }
}
