import { ListingError, listModels } from '../../gateway/models/model-listing.ts'
import type { Models } from '../../gateway/models/models.ts'
import { alternativeBaseUrls } from '../../providers/config/base-url.ts'
import { isListed } from '../../providers/model-listing.ts'
import type { ListedModel, Provider, RemoteKind } from '../../providers/provider.ts'
import type { OnlineReport } from './report.ts'
import type { CliContext } from '../context.ts'
import { withProgress } from '../output.ts'

/** Requests the model lists of all remote providers concurrently and reports each result. */
export async function checkProviders(
  providers: Iterable<Provider>,
  models: Models,
  context: CliContext,
  json?: boolean,
): Promise<readonly OnlineReport[]> {
  const pending = new Set<string>()
  const reports = [...providers].flatMap((provider) => {
    const { name, kind } = provider
    if (!('protocol' in kind)) return []
    pending.add(name)
    return checkProvider(provider, kind, models).finally(() => pending.delete(name))
  })
  return withProgress(Promise.all(reports), context, json, () => `Waiting for ${[...pending].join(', ')}.`)
}

async function checkProvider(provider: Provider, kind: RemoteKind, models: Models): Promise<OnlineReport> {
  const report = { provider: provider.name, models: null, error: null, unknown: [] }
  if (!isListed(provider)) return { ...report, ok: null }
  try {
    // `listModels` has a timeout of its own.
    const listed = await listModels(provider, kind, new AbortController().signal)
    const ids = listed.map(({ id }) => id)
    return {
      ...report,
      ok: true,
      models: ids.length,
      ...unusedSlots(provider, listed),
      unknown: unlistedModels(ids, routedModels(provider, models)),
    }
  } catch (error) {
    const workingBaseUrl = await findWorkingBaseUrl(provider, kind, error)
    if (workingBaseUrl === undefined) return { ...report, ok: false, error: errorMessage(error) }
    const message = `${errorMessage(error)} The model list is available at ${workingBaseUrl}. Set base_url to this URL.`
    return { ...report, ok: false, error: message, working_base_url: workingBaseUrl }
  }
}

/** The slots of an engine that gets more requests at once, which then wait in it, whatever their keys. */
function unusedSlots({ slots }: Provider, listed: readonly ListedModel[]): Pick<OnlineReport, 'slots'> {
  const count = listed.reduce((sum, model) => sum + (model.slots ?? 0), 0)
  return count > 0 && (slots?.concurrency ?? Number.POSITIVE_INFINITY) > count ? { slots: count } : {}
}

/** For each base URL that is tried. */
const probeTimeoutMs = 3000

/** Finds another base URL on the same host that has a model list, if the configured one has none. */
async function findWorkingBaseUrl(
  provider: Provider,
  kind: RemoteKind,
  error: unknown,
): Promise<string | undefined> {
  // An unreachable provider, or one that rejects the key, would do so at any path.
  if (!(error instanceof ListingError) || [401, 403].includes(error.status)) return undefined
  for (const baseUrl of alternativeBaseUrls(provider.baseUrl, kind)) {
    const { signal } = new AbortController()
    const listed = await listModels({ ...provider, baseUrl }, kind, signal, {
      deadline: probeTimeoutMs,
    }).catch(() => undefined)
    if (listed !== undefined) return baseUrl
  }
  return undefined
}

function routedModels(provider: Provider, { enabled }: Models): readonly string[] {
  const routes = enabled.flatMap((model) => model.routes)
  return [
    ...new Set(routes.filter((route) => route.provider.name === provider.name).map(({ model }) => model)),
  ]
}

/** Returns the models that are not in the list; a listed id may be longer by a date or a tag. */
function unlistedModels(ids: readonly string[], models: readonly string[]): readonly string[] {
  return models.filter(
    (model) =>
      !ids.some((id) => id === model || (/^[-:]/.test(id.slice(model.length)) && id.startsWith(model))),
  )
}

function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'The request timed out.'
  return 'code' in error ? `The connection failed (${String(error.code)}).` : error.message
}
