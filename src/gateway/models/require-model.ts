import { type ApiError, modelNotFound } from '../../lib/errors/errors.ts'
import { joinChoices } from '../../lib/validation/problem.ts'
import { shortText } from '../../lib/text.ts'
import type { Model } from './model.ts'
import type { Models } from './models.ts'
import { suggestModels } from './suggest-models.ts'

/** Returns the enabled model of that name; throws the 404 with the reason if there is none. */
export function requireModel(models: Models, name: string): Model {
  const model = models.find(name)
  if (model === undefined) throw notFound(models, name)
  if (model.disabled === undefined) return model
  throw modelNotFound(`The model ${model.slug} is disabled. ${model.disabled}`, 'disabled_model', name)
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
