import { tooManyValues } from '../errors/errors.ts'
import { type JsonLimits, type JsonMeasure, measureJson } from './json-bounds.ts'

/**
 * For all values of a body together: a million token IDs fit, and more than twice of what the conversation of an agent has
 * that fills a context of a million tokens. They take 8 MiB, and a tenth of a second to parse.
 */
export const maxWeight = 1_048_576

/** The bound of the JSON in the strings of one request together: as much as the request itself may have. */
export class ValueBudget {
  readonly #field: string
  #remaining = maxWeight

  /** `field` is that of the request which has the strings. */
  constructor(field: string) {
    this.#field = field
  }

  /** Measures a text that is about to be parsed; throws the 400 that names the field if its values do not fit. */
  take(json: string, limits: JsonLimits = {}): JsonMeasure {
    const measure = measureJson(json, { ...limits, maxWeight: this.#remaining })
    if (measure.broken === 'weight') throw tooManyValues(maxWeight, this.#field)
    this.#remaining -= measure.weight
    return measure
  }
}
