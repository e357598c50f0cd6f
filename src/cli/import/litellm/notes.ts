import { problemPath } from '../../../config/problem.ts'
import type { Fields } from '../../../lib/json/json.ts'

/** A part of the source file that the settings do not have, and why. */
export type NotImported = {
  /** Such as `model_list[2].litellm_params.rpm`. */
  readonly path: string
  /** A sentence; it never contains a secret. */
  readonly reason: string
}

/** Collects what was not imported, each path and reason once. */
export class Notes {
  readonly #notes = new Map<string, NotImported>()
  #omitted = 0

  add(path: string, reason: string): void {
    const key = `${path}\n${reason}`
    if (this.#notes.has(key)) return
    if (this.#notes.size < maxNotes) this.#notes.set(key, { path, reason })
    else this.#omitted += 1
  }

  /** Adds a note for each field that `known` does not name; `reasons` has the sentences of some. */
  addUnknown(
    fields: Fields,
    path: string,
    known: ReadonlySet<string>,
    reasons: Readonly<Record<string, string>> = {},
  ): void {
    for (const [name, value] of Object.entries(fields)) {
      if (value === null || value === undefined || known.has(name)) continue
      this.add(problemPath(path, name), Object.hasOwn(reasons, name) ? (reasons[name] ?? '') : noCounterpart)
    }
  }

  /** The notes on the models in the order of the source, then the others. */
  list(): readonly NotImported[] {
    const notes = [...this.#notes.values()].toSorted((a, b) => modelIndex(a) - modelIndex(b))
    if (this.#omitted === 0) return notes
    return [...notes, { path: '…', reason: `${this.#omitted} more settings were not imported.` }]
  }
}

function modelIndex({ path }: NotImported): number {
  const [, index] = /^model_list\[(\d+)\]/.exec(path) ?? []
  return index === undefined ? Number.MAX_SAFE_INTEGER : Number(index)
}

/** More would not be read, and a hostile file could have any number. */
const maxNotes = 1000

/** The reason for a setting that has no other one. */
export const noCounterpart = 'Weir has no such setting.'
