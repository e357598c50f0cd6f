import type { Settings } from '../config/settings.ts'
import type { AdminDependencies } from '../api/admin/routes.ts'
import { type AdminAccess, createAdminAccess } from '../http/admin-access.ts'
import { KeyWatch } from '../http/authentication.ts'
import type { NetworkOverrides } from '../lib/pinned-fetch.ts'
import { LargeBodies } from '../gateway/rate-limits/large-bodies.ts'
import { createRateLimits, type RateLimits } from '../gateway/rate-limits/rate-limits.ts'
import { createOpenCalls, type OpenCalls } from '../gateway/open-calls.ts'
import { ReplySizes } from '../gateway/reply-room.ts'
import { ProviderQueues } from '../gateway/routing/provider-queue.ts'
import { serviceUnavailable } from '../lib/errors/errors.ts'
import type { Log } from '../lib/log.ts'
import { MemoryBudget } from '../lib/memory-budget.ts'
import { type MetricSnapshot, mergeSnapshots, renderSnapshots } from '../observability/metrics/snapshot.ts'
import type { Observability } from '../observability/observability.ts'
import type { RequestTracker } from '../observability/request-tracker.ts'
import type { RouteHealthRecorder } from '../observability/route-health.ts'
import { createFollowedResponses, type FollowedResponses } from '../api/responses/live/followed-responses.ts'
import { createLiveResponses, type LiveResponses } from '../api/responses/live/live-response.ts'
import type { RunEnvironment } from '../api/responses/background/run.ts'
import { createRuns, type Runs } from '../api/responses/background/runs.ts'
import type { Storage } from '../storage/ports/storage.ts'
import { createMetricsPage, type MetricsPage } from '../api/system/metrics-page.ts'
import { type Connections, createConnections } from './connections.ts'

/** The services that outlive a reload of the settings. */
export type Services = {
  readonly storage: Storage
  readonly limits: RateLimits
  readonly largeBodies: LargeBodies
  readonly keyWatch: KeyWatch
  readonly queues: ProviderQueues
  /** The memory of all requests in flight. */
  readonly memory: MemoryBudget
  readonly replySizes: ReplySizes
  readonly live: LiveResponses
  readonly followed: FollowedResponses
  readonly runs: Runs
  readonly calls: OpenCalls
  readonly metrics: MetricsPage
  readonly connections: Connections
  readonly requests: RequestTracker
  readonly adminAccess: AdminAccess
  /** Further dependencies of the admin API. */
  readonly admin: Pick<AdminDependencies, 'managed' | 'pendingDeletions' | 'liveRequests' | 'routeHealth'>
  readonly lastSuccess: RouteHealthRecorder['lastSuccess']
  readonly firstEventTimeoutMs: number
  readonly usageTimeoutMs: number | undefined
  readonly clock: (() => number) | undefined
  /** Milliseconds since 1970, by which the periods of budgets begin. */
  readonly now: (() => number) | undefined
  readonly images?: NetworkOverrides | undefined
  readonly log: Log
}

/** Returns the metrics of the other processes that serve the same port; receives those of this process. */
export type OtherMetrics = (own: readonly MetricSnapshot[]) => Promise<readonly (readonly MetricSnapshot[])[]>

/** The parts of `RuntimeInput` that the shared services use. */
type ServicesInput = {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly log: Log
  readonly firstEventTimeoutMs?: number
  readonly usageTimeoutMs?: number
  readonly memoryWaitMs?: number
  readonly clock?: () => number
  readonly now?: () => number
  readonly images?: NetworkOverrides
  readonly otherMetrics?: OtherMetrics
}

/** The active settings, and what background runs use. */
type ActiveConfiguration = {
  readonly configuration: { readonly settings: Pick<Settings, 'limits' | 'host' | 'memory'> }
  readonly runEnvironment: RunEnvironment
}

/** How long a stream waits for the first event of a provider before it sends its status to the client. */
const defaultFirstEventTimeoutMs = 10_000

/** Creates the shared services; `active` is not called before an application is active. */
export function createServices(
  input: ServicesInput,
  storage: Storage,
  observation: Observability,
  active: () => ActiveConfiguration,
): Services {
  const { log } = input
  const settings = () => active().configuration.settings
  const adminAccess = createAdminAccess(input.environment.WEIR_ADMIN_KEY, storage.adminKeys)
  const memory = new MemoryBudget(() => settings().memory.inFlight, input.memoryWaitMs)
  const limits = createRateLimits(storage.limits, () => settings().limits, { memory })
  const calls = createOpenCalls()
  const connections = createConnections()
  const metrics = { render: () => renderMetrics(observation, input.otherMetrics) }
  return {
    storage,
    limits,
    largeBodies: new LargeBodies(input.clock),
    queues: new ProviderQueues(),
    keyWatch: new KeyWatch(storage.keys, calls.values),
    memory,
    replySizes: new ReplySizes(),
    ...createResponseServices(storage, limits, log, () => active().runEnvironment),
    calls,
    connections,
    metrics: createMetricsPage(metrics, adminAccess, connections.addressOf, () => settings().host),
    requests: observation.requests,
    adminAccess,
    admin: adminParts(storage, observation),
    lastSuccess: observation.routes.lastSuccess,
    firstEventTimeoutMs: input.firstEventTimeoutMs ?? defaultFirstEventTimeoutMs,
    usageTimeoutMs: input.usageTimeoutMs,
    clock: input.clock,
    now: input.now,
    images: input.images,
    log,
  }
}

/** The responses in progress, and the background runs. */
function createResponseServices(
  storage: Storage,
  limits: RateLimits,
  log: Log,
  current: () => RunEnvironment,
): Pick<Services, 'live' | 'followed' | 'runs'> {
  const { peers, runs, responses, ledger, keys, managed } = storage
  const { organizations } = managed
  const live = createLiveResponses()
  const followed = createFollowedResponses({ peers, runs, responses, live, log })
  const parts = { current, peers, runs, responses, ledger, live, limits, keys, organizations, log }
  return { live, followed, runs: createRuns(parts) }
}

/** Renders the metrics of this process, or of all processes that share the port. */
function renderMetrics(
  { metrics }: Observability,
  others: ServicesInput['otherMetrics'],
): string | Promise<string> {
  const own = metrics.snapshot()
  if (others === undefined) return renderSnapshots(own)
  return others(own).then(
    (snapshots) => renderSnapshots(mergeSnapshots([own, ...snapshots])),
    (error) => {
      // The metrics of one process alone would look like a restart.
      throw serviceUnavailable('The metrics of the other processes cannot be read. Try again later.', error)
    },
  )
}

function adminParts({ managed, pendingDeletions }: Storage, observation: Observability): Services['admin'] {
  return {
    managed,
    pendingDeletions,
    liveRequests: observation.live,
    routeHealth: observation.routes,
  }
}
