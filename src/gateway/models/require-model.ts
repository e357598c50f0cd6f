import { modelNotFound } from '../../lib/errors.ts'
import type { Model, Models } from './model.ts'

/** The model of that name, if it is on; else the 404 that says why not. */
export function requireModel(models: Models, name: string): Model {
  const model = models.find(name)
  if (!model)
    throw modelNotFound(
      `There is no model '${name.slice(0, 100)}', or more than one. GET /v1/models lists them.`,
    )
  if (model.disabled !== undefined)
    throw modelNotFound(`The model ${model.slug} is not enabled. ${model.disabled}`)
  return model
}
