import { isListed, ListingError, listModels } from '../gateway/models/model-listing.ts'
import type { Models } from '../gateway/models/model.ts'
import { otherBases } from '../providers/config/base-address.ts'
import type { Provider, RemoteKind } from '../providers/provider.ts'
import type { CheckedAnswer } from './check-report.ts'
import type { CliContext } from './args.ts'
import { withProgress } from './progress.ts'

/** Asks every provider that is not inside this program for the list of its models, all at once. */
export async function askProviders(
  providers: Iterable<Provider>,
  models: Models,
  world: CliContext,
  json?: boolean,
): Promise<readonly CheckedAnswer[]> {
  const silent = new Set<string>()
  const answers = [...providers].flatMap((provider) => {
    const { name, kind } = provider
    if (!('protocol' in kind)) return []
    silent.add(name)
    return answerOf(provider, kind, models).finally(() => silent.delete(name))
  })
  return withProgress(Promise.all(answers), world, json, () => `Waiting for ${[...silent].join(', ')}.`)
}

async function answerOf(provider: Provider, kind: RemoteKind, models: Models): Promise<CheckedAnswer> {
  const answer = { provider: provider.name, models: null, error: null, unknown: [] }
  if (!isListed(provider, kind)) return { ...answer, ok: null }
  try {
    // It has a deadline of its own.
    const listed = await listModels(provider, kind, new AbortController().signal)
    const ids = listed.map(({ id }) => id)
    return { ...answer, ok: true, models: ids.length, unknown: notIn(ids, routesTo(provider, models)) }
  } catch (error) {
    const base = await workingBase(provider, kind, error)
    if (base === undefined) return { ...answer, ok: false, error: sentenceOf(error) }
    const sentence = `${sentenceOf(error)} It lists its models behind ${base}: set base_url to that.`
    return { ...answer, ok: false, error: sentence, working_base_url: base }
  }
}

/** Milliseconds for each address that is tried. */
const probeTimeoutMs = 3000

/** Another base on the same host behind which the provider lists its models, where the configured one has no list. */
async function workingBase(
  provider: Provider,
  kind: RemoteKind,
  error: unknown,
): Promise<string | undefined> {
  // One that is not there, or that refuses the key, is not at another path.
  if (!(error instanceof ListingError) || [401, 403].includes(error.status)) return undefined
  for (const baseUrl of otherBases(provider.baseUrl, kind)) {
    const { signal } = new AbortController()
    const listed = await listModels({ ...provider, baseUrl }, kind, signal, {
      deadline: probeTimeoutMs,
    }).catch(() => undefined)
    if (listed !== undefined) return baseUrl
  }
  return undefined
}

function routesTo(provider: Provider, { enabled }: Models): readonly string[] {
  const routes = enabled.flatMap((model) => model.routes)
  return [
    ...new Set(routes.filter((route) => route.provider.name === provider.name).map(({ model }) => model)),
  ]
}

/** Lists have the full names, with a date or a tag behind, of models that are also known by shorter ones. */
function notIn(ids: readonly string[], models: readonly string[]): readonly string[] {
  return models.filter(
    (model) =>
      !ids.some((id) => id === model || (/^[-:]/.test(id.slice(model.length)) && id.startsWith(model))),
  )
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'It did not answer in time.'
  return 'code' in error ? `The connection failed (${String(error.code)}).` : error.message
}
