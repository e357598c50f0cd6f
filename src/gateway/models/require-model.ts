import { apiPaths, conversationApis, type ModelApi } from '../../domain/generation/parameters.ts'
import type { Generation } from '../../domain/generation/request.ts'
import { modelNotAllowed } from '../../lib/errors/access-errors.ts'
import {
  type ApiError,
  apiNotSupported,
  completionsNotSupported,
  modelNotFound,
} from '../../lib/errors/errors.ts'
import { nearMatches } from '../../lib/near-match.ts'
import { shortText } from '../../lib/text.ts'
import { joinChoices } from '../../lib/validation/problem.ts'
import { isOffered, type Model } from './model.ts'
import { lastSegment, type Models, withoutAuthor } from './models.ts'

/** Returns the enabled model of that name; throws the 404 with the reason if there is none, and the 403 if it is not allowed. */
export function requireModel(models: Models, name: string): Model {
  const model = models.find(name)
  if (model === undefined) throw notFound(models, name)
  requireAllowed(models, model)
  if (model.disabled === undefined) return model
  throw modelNotFound(`The model ${model.slug} is disabled. ${model.disabled}`, 'disabled_model', name)
}

/** Throws the 403 of a model that the caller may not use. */
export function requireAllowed({ allows }: Pick<Models, 'allows'>, model: Model): void {
  if (allows !== undefined && !allows(model)) throw modelNotAllowed(model.slug)
}

/** A longer name is truncated in the message. */
const maxShown = 100
const maxCandidates = 8

function notFound(models: Models, name: string): ApiError {
  const shown = `'${shortText(name, maxShown)}'`
  const sharing = models.sharing(name)
  if (sharing.length > 0)
    return modelNotFound(
      `The model name ${shown} is ambiguous: ${describeCandidates(sharing)}`,
      'ambiguous_model',
      name,
    )
  const suggestions = suggestModels(models, name)
  const hint = suggestions.length > 0 ? ` Did you mean ${joinChoices(suggestions)}?` : ''
  const message = `The model ${shown} does not exist.${hint} GET /v1/models lists the enabled models.`
  return modelNotFound(message, 'unknown_model', name)
}

function describeCandidates(models: readonly Model[]): string {
  const slugs = models.slice(0, maxCandidates).map(({ slug }) => slug)
  const others = models.length - slugs.length
  const text = `it matches ${joinChoices(others > 0 ? [...slugs, `${others} others`] : slugs, 'and')}`
  const enabled = models.some(({ disabled }) => disabled === undefined)
  return enabled ? `${text}. Use the full name.` : `${text}, which are all disabled.`
}

const maxSuggested = 3
/** No model has a longer name. */
const maxLength = 100
/** Only so many enabled models are compared letter by letter. */
const maxCompared = 2000

/**
 * The slugs of the enabled models that an unknown name may mean: those that differ only in the author or in
 * letter case, then those that begin with it, those that it misspells, and those that are a prefix of it.
 * Each step is linear in the number of models.
 */
function suggestModels({ enabled }: Pick<Models, 'enabled'>, name: string): readonly string[] {
  const requested = name.trim().toLowerCase()
  if (requested === '' || name.length > maxLength) return []
  const bare = lastSegment({ slug: requested })
  const found = new Set<string>()
  const steps = [
    () => matching(enabled, (known) => known === requested || known === bare),
    // `llama3.2` for `llama3.2:latest`.
    () => matching(enabled, (known) => bare.length >= minPrefix && known.startsWith(bare)),
    () => misspelled(enabled, requested, bare),
    // `gpt-4o-2024-08-06` for `gpt-4o`.
    () => matching(enabled, (known) => hasSuffixAfter(bare, known) || hasSuffixAfter(requested, known)),
  ]
  for (const step of steps) {
    for (const slug of step()) found.add(slug)
    if (found.size > 0) break
  }
  return [...found].slice(0, maxSuggested)
}

/** A shorter prefix matches too many models. */
const minPrefix = 3

/** The slugs of the models with a matching name, the shortest first. */
function matching(models: readonly Model[], matches: (name: string) => boolean): readonly string[] {
  const slugs = models.filter((model) => namesOf(model).some(matches)).map(({ slug }) => slug)
  return slugs.toSorted((a, b) => a.length - b.length)
}

/** Whether the requested name is the known one with a date, a tag or the like after it. */
function hasSuffixAfter(requested: string, known: string): boolean {
  return (
    known.length >= minPrefix && requested.startsWith(known) && /[-:@.]/.test(requested.charAt(known.length))
  )
}

function misspelled(models: readonly Model[], requested: string, bare: string): readonly string[] {
  const compared = models.slice(0, maxCompared)
  const bySlug = compared.map(({ slug }) => [slug, slug] as const)
  const byName = compared.flatMap((model) =>
    [lastSegment(model), ...model.aliases].map((name) => [name, model.slug] as const),
  )
  return [...(requested === bare ? [] : nearSlugs(requested, bySlug)), ...nearSlugs(bare, byName)]
}

function nearSlugs(
  name: string,
  slugsByName: readonly (readonly [name: string, slug: string])[],
): readonly string[] {
  const slugs = new Map(slugsByName)
  return nearMatches(name, slugs.keys(), maxSuggested).flatMap((name) => slugs.get(name) ?? [])
}

function namesOf(model: Model): readonly string[] {
  return [model.slug, withoutAuthor(model), lastSegment(model), ...model.aliases].map((name) =>
    name.toLowerCase(),
  )
}

/** Throws the 400 or 404 where the model does not serve the API; its message names an API that the model serves. */
export function requireApi(model: Model, api: ModelApi): void {
  if (!model.supportedApis.includes(api)) throw unsupportedApi(model, api)
}

/** The error for an API that no provider of the model offers. */
export function unofferedOperation(model: Model, { operation }: Generation): ApiError {
  return unsupportedApi(model, operation === 'embedding' ? 'embeddings' : 'completions')
}

function unsupportedApi(model: Model, api: ModelApi): ApiError {
  const { slug, supportedApis } = model
  const others = supportedApis.filter((other) => other !== api && isOffered(model, other))
  const [instead] = [...conversationApis.filter((other) => others.includes(other)), ...others]
  const error = api === 'completions' ? completionsNotSupported : apiNotSupported
  return error(slug, apiPaths[api], instead && apiPaths[instead])
}
