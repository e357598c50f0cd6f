import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { fileErrorReason } from '../../config/file-problems.ts'
import { problemLine, problemPath } from '../../config/problem.ts'
import { maxYamlBytes, parseYaml } from '../../config/yaml.ts'
import type { Fields } from '../../lib/json/json.ts'
import { shortText } from '../../lib/text.ts'
import type { CliContext } from '../context.ts'
import { CommandError } from '../errors.ts'

/** The sections of the source, besides the models. */
export type Sections = {
  readonly litellm_settings: Fields
  readonly router_settings: Fields
  readonly general_settings: Fields
}

/** A part of the source file that the settings do not have, and why. */
export type NotImported = {
  /** Such as `model_list[2].litellm_params.rpm`. */
  readonly path: string
  /** A sentence; it never contains a secret. */
  readonly reason: string
}

/** Fields of the source, their path, and the notes on what of them is not imported. */
export type Part = { readonly fields: Fields; readonly path: string; readonly notes: Notes }

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
const noCounterpart = 'Weir has no such setting.'

/** A text of the source, as weir.yaml contains it. */
export type ImportedText = {
  readonly text: string
  /** The environment variable that has the value. */
  readonly variable?: string
}

/** Reads a text or a number: `os.environ/NAME` becomes `${NAME}`, and a `${` of the text is escaped. */
export function importedText(value: unknown): ImportedText | undefined {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || text.trim() === '') return undefined
  const variable = variableOf(text)
  return variable === undefined
    ? { text: escapeText(text.trim()) }
    : { text: variableText(variable), variable }
}

/** The variable that `os.environ/NAME` names; undefined for any other text. */
function variableOf(text: string): string | undefined {
  return /^os\.environ\/([A-Za-z_]\w{0,199})$/.exec(text.trim())?.[1]
}

/** How weir.yaml refers to an environment variable. */
export function variableText(name: string): string {
  return `\${${name}}`
}

/** The text in a form that refers to no environment variable. */
export function escapeText(text: string): string {
  return text.replaceAll('${', '$${')
}

/** Reads `true`, `True`, `yes` and `on`, which YAML 1.1 takes for true. */
export function isTrue(value: unknown): boolean {
  return value === true || (typeof value === 'string' && /^(true|yes|on)$/i.test(value.trim()))
}

/** The counterpart of `isTrue`: an absent value is not false. */
export function isFalse(value: unknown): boolean {
  return value === false || (typeof value === 'string' && /^(false|no|off)$/i.test(value.trim()))
}

/** Reads a number of at least 0, also in the forms that only YAML 1.1 knows, such as `80_000`, and in quotes. */
export function amountOf(value: unknown): number | undefined {
  const number =
    typeof value === 'string' && value.trim() !== '' ? Number(value.replaceAll(/(?<=\d)_(?=\d)/g, '')) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined
}

/** Reads a whole number above 0. */
export function countOf(value: unknown): number | undefined {
  const count = amountOf(value)
  return count !== undefined && Number.isSafeInteger(count) && count > 0 ? count : undefined
}

/** A number of seconds as a duration of weir.yaml, from a millisecond to a day; undefined for 0 and for no number. */
export function durationOf(value: unknown): string | undefined {
  const seconds = amountOf(value)
  if (seconds === undefined || seconds === 0) return undefined
  const milliseconds = Math.max(1, Math.round(Math.min(seconds, secondsPerDay) * 1000))
  return milliseconds % 1000 === 0 ? `${milliseconds / 1000}s` : `${milliseconds}ms`
}

const secondsPerDay = 86_400

/** The duration of a field, which is noted where it is none. */
export function durationIn({ fields, path, notes }: Part, name: string): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  const duration = durationOf(value)
  if (duration === undefined) notes.add(`${path}.${name}`, 'It is not a number of seconds.')
  return duration
}

/** A name of the source for a message or a comment: short and in one line. */
export function quoted(text: string): string {
  return `“${shortText(text, 80)}”`
}

/** Prints what was not imported on standard error, a line each. */
export function reportNotes(notes: readonly NotImported[], context: CliContext): void {
  for (const { path, reason } of notes) context.err(`${shortText(path, 200)}: ${reason}`)
}

/** Formats a number of things: `1 model`, `2 models`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** A parsed file of another program. */
type Source = {
  readonly config: unknown
  /** The paths of the keys that occur twice; each has its last value. */
  readonly duplicates: readonly string[]
}

/** The list of 5,000 keys has a tenth of it. */
const maxJsonBytes = 64 * 1024 * 1024

/** Reads and parses a YAML file. Throws `CommandError` with a sentence that names the file. */
export function readYamlFile(file: string): Source {
  const text = readText(file, maxYamlBytes, 'has more than 1 MiB, which no configuration has')
  const { value, problems, duplicates } = parseYaml(text)
  const [problem] = problems
  if (problem !== undefined) throw new CommandError(`${file} cannot be read: ${problemLine(problem)}`)
  return { config: value, duplicates: duplicates.map(({ path }) => path) }
}

/** Reads and parses a JSON file. Throws `CommandError` with a sentence that names the file, and nothing of its content. */
export function readJsonFile(file: string): unknown {
  const text = readText(file, maxJsonBytes, 'has more than 64 MiB')
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandError(`${file} is not valid JSON.`)
  }
}

function readText(file: string, maxBytes: number, tooLarge: string): string {
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, 'r')
    const status = fstatSync(descriptor)
    if (status.isFile() && status.size > maxBytes) throw new CommandError(`${file} ${tooLarge}.`)
    if (!status.isFile()) throw new CommandError(`${file} is not a file.`)
    return readFileSync(descriptor, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${file} cannot be read: ${fileErrorReason(error)}.`)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
