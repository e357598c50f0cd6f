import type { ProviderCheck } from '../../gateway/models/provider-check.ts'
import type { ModelRegistry } from '../../gateway/models/model-registry.ts'
import { errorCodeGroups } from '../../lib/errors/error-codes.ts'
import { monotonicNow } from '../../lib/time.ts'
import type { RouteHealth } from '../../observability/route-health.ts'
import type { Provider } from '../../providers/provider.ts'

/** Why a provider counts as failing. */
type ProviderProblem = {
  readonly source: 'request' | 'check'
  /** ISO 8601. */
  readonly at: string
  readonly message: string
  readonly remedy: string
  /** The ID of the failed request; null for a check. */
  readonly request: string | null
}

type Health = {
  readonly health: 'ok' | 'failing' | 'unknown'
  readonly problem: ProviderProblem | null
}

/**
 * A provider fails if its last check failed, or its last request through any route, unless it has recovered since. A
 * request that it rejected as invalid shows that it responds. Unknown before the first request and check.
 */
export function healthOf(routes: readonly RouteHealth[], check: ProviderCheck | undefined): Health {
  const problem = checkProblem(check) ?? requestProblem(routes, check)
  if (problem !== null) return { health: 'failing', problem }
  const used = routes.some(({ requests }) => requests > 0)
  return { health: used || check !== undefined ? 'ok' : 'unknown', problem: null }
}

function checkProblem(check: ProviderCheck | undefined): ProviderProblem | null {
  if (check === undefined || check.failure === null) return null
  return { source: 'check', at: toIso(check.at), ...check.failure, request: null }
}

function requestProblem(
  routes: readonly RouteHealth[],
  check: ProviderCheck | undefined,
): ProviderProblem | null {
  const errors = routes.flatMap(({ lastError }) => (lastError === null ? [] : [lastError]))
  const failed = errors.filter(({ status }) => status >= 500).toSorted((a, b) => b.at - a.at)[0]
  if (failed === undefined) return null
  const responses = errors.filter(({ status }) => status < 500).map(({ at }) => at)
  const successes = routes.map(({ lastSuccessAt }) => lastSuccessAt ?? 0)
  const respondedAt = Math.max(check?.recoveredAt ?? 0, ...responses, ...successes)
  // Times are in milliseconds: of two in the same one, the failure counts.
  if (respondedAt > failed.at) return null
  const { at, code, request } = failed
  return { source: 'request', at: toIso(at), ...explainCode(code), request }
}

/** The cause of an error code of a request to a provider, and the remedy for the operator. */
export function explainCode(code: string): { readonly message: string; readonly remedy: string } {
  const known = details.get(code)
  return {
    message: known?.cause ?? 'The request failed.',
    remedy: remedies[code] ?? known?.remedy ?? 'The log has the cause, with the ID of the request.',
  }
}

const details = new Map<string, { readonly cause: string; readonly remedy: string }>(
  Object.values(errorCodeGroups).flatMap((codes) => Object.entries(codes)),
)

const running = 'Check that the provider is running and that its base_url is correct.'

const remedies: Readonly<Record<string, string>> = {
  upstream_unavailable: `${running} A second route keeps the model available.`,
  upstream_timeout: `${running} If it is only slow, set longer timeouts for it.`,
  upstream_rate_limited: 'Raise the limit at the provider, or add a second route.',
  provider_key_rejected: 'Replace the API key of the provider in the environment or in weir.yaml.',
  provider_quota_exhausted: 'Add credit at the provider.',
  upstream_model_not_found: 'Correct the name of the model in the route.',
}

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

function toIso(time: number): string {
  return new Date(time).toISOString()
}
