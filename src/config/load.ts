import { readFileSync } from 'node:fs'
import { Check } from 'typebox/schema'
import { fieldsOf, isObject } from '../lib/json/json.ts'
import { Secret } from '../lib/secret.ts'
import { readCatalogUpdate } from './catalog-update.ts'
import { checkSchema, validPart } from './check-schema.ts'
import { toSettings } from './defaults.ts'
import type { ModelDetails } from './model-details.ts'
import { findDataFolder, findSettingsFile, type SettingsInput } from './paths.ts'
import { isSamePlace, SettingsError, type SettingsProblem } from './problem.ts'
import { interpolate, readSettingsFile } from './read-settings-file.ts'
import { DatabaseUrl, maxWorkers, type Settings, SettingsFile } from './settings.ts'
import type { ParsedYaml } from './yaml.ts'

/** The settings, and the files that they belong to. */
export type LoadedSettings = {
  readonly settings: Settings
  /** The settings file, or null if there is none. */
  readonly file: string | null
  readonly dataFolder: string
  /** Settings that are accepted but probably a mistake. */
  readonly warnings: readonly SettingsProblem[]
}

/** Loads the settings: flags override WEIR_ variables, the file, then the defaults. Throws `SettingsError`. */
export function loadSettings(input: SettingsInput): LoadedSettings {
  const file = findSettingsFile(input)
  const source = file === null ? noFile : readSettingsFile(file)
  const problems: SettingsProblem[] = []
  const warnings: SettingsProblem[] = []
  const variablePaths = new Set<string>()
  const values = interpolate(source.value, input.environment, problems, warnings, variablePaths)
  const valid = checkSchema(SettingsFile, values, problems, variablePaths)
  const fileSettings = valid ? values : validSettings(values)
  const duplicates = duplicateModelNames(fileSettings.models ?? [])
  problems.push(...duplicates.filter(({ path }) => !problems.some((known) => isSamePlace(known.path, path))))
  const located = problems.map((problem) => ({ ...problem, ...source.locate(problem.path) }))
  const database = databaseFromEnvironment(input.environment, located)
  const overrides = overridesFromInput(input, located)
  const page = input.flags['no-page'] && { page: false }
  const dataFolder = findDataFolder(input)
  const catalog = readCatalogUpdate(dataFolder)
  const own = toSettings({ ...fileSettings, ...overrides, ...page, ...(database && { database }) }, file)
  const settings = { ...own, ...(catalog && { catalog }) }
  const all = [...source.problems, ...source.duplicates, ...withoutLines(located, source.problems)]
  if (all.length > 0) throw new InvalidSettings(all, file, settings)
  const locatedWarnings = warnings.map((warning) => ({ ...warning, ...source.locate(warning.path) }))
  return { settings, file, dataFolder, warnings: locatedWarnings }
}

/** The settings have problems; `validPart` are those of them that are valid, with the defaults. */
export class InvalidSettings extends SettingsError {
  readonly validPart: Settings

  constructor(problems: readonly SettingsProblem[], file: string | null, validPart: Settings) {
    super(problems, file)
    this.validPart = validPart
  }
}

const noFile: ParsedYaml = { value: {}, problems: [], duplicates: [], locate: () => undefined }

/** A value on a line with a syntax error needs no second problem. */
function withoutLines(
  problems: readonly SettingsProblem[],
  reported: readonly SettingsProblem[],
): readonly SettingsProblem[] {
  const lines = new Set(reported.map(({ line }) => line))
  return problems.filter(({ line }) => line === undefined || !lines.has(line))
}

function validSettings(values: unknown): SettingsFile {
  const part = validPart(fieldsOf(SettingsFile), values)
  return Check(SettingsFile, part) ? part : {}
}

/** The settings that flags and variables override. */
type Overrides = { host?: string; port?: number; workers?: number }

function overridesFromInput({ flags, environment }: SettingsInput, problems: SettingsProblem[]): Overrides {
  const host = flags.host || environment.WEIR_HOST
  const port =
    parseNumber('--port', flags.port, maxPort, problems) ??
    parseNumber('WEIR_PORT', environment.WEIR_PORT, maxPort, problems)
  const workers =
    parseNumber('--workers', flags.workers, maxWorkers, problems) ??
    parseNumber('WEIR_WORKERS', environment.WEIR_WORKERS, maxWorkers, problems)
  return {
    ...(host && { host }),
    ...(port !== undefined && { port }),
    ...(workers !== undefined && { workers }),
  }
}

const maxPort = 65535

function parseNumber(
  path: string,
  text: string | undefined,
  max: number,
  problems: SettingsProblem[],
): number | undefined {
  if (text === undefined || text === '') return undefined
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (number <= max) return number
  problems.push({ path, message: `must be a whole number from 0 to ${max}, not “${text}”.` })
  return undefined
}

/** Returns a problem for each slug or alias that is used more than once. */
export function duplicateModelNames(models: readonly ModelDetails[]): readonly SettingsProblem[] {
  const owners = new Map<string, string>()
  const problems: SettingsProblem[] = []
  const addName = (name: string, path: string) => {
    const owner = owners.get(name)
    if (owner === undefined) owners.set(name, path)
    else problems.push({ path, message: `“${name}” is already used by ${owner}. Each name must be unique.` })
  }
  for (const [index, model] of models.entries()) addName(model.slug, `models[${index}].slug`)
  for (const [index, model] of models.entries())
    for (const [position, alias] of (model.aliases ?? []).entries())
      addName(alias, `models[${index}].aliases[${position}]`)
  return problems
}

/** Returns the value of WEIR_DATABASE; undefined if it is not set. Adds a problem if it is not valid. */
function databaseFromEnvironment(
  environment: SettingsInput['environment'],
  problems: SettingsProblem[],
): string | undefined {
  return validUrl(environment.WEIR_DATABASE || undefined, 'WEIR_DATABASE', problems)
}

/**
 * Returns the URL of the PostgreSQL database from WEIR_DATABASE or the settings file; undefined for the SQLite file in the
 * data folder. Other mistakes in the settings file are ignored, because they must not keep an operator from revoking a
 * key. Throws `SettingsError` if the database is not known.
 */
export function findDatabaseUrl(input: SettingsInput): Secret | undefined {
  const problems: SettingsProblem[] = []
  const file = findSettingsFile(input)
  const url =
    databaseFromEnvironment(input.environment, problems) ??
    (file === null ? undefined : databaseFromFile(file, input, problems))
  if (problems.length > 0) throw new SettingsError(problems, file)
  return url === undefined ? undefined : new Secret(url)
}

/** Returns the URL of a PostgreSQL database; throws `SettingsError`, which names only where it was set, for any other text. */
export function parseDatabaseUrl(value: string, name: string): Secret {
  const problems: SettingsProblem[] = []
  const url = validUrl(value, name, problems)
  if (url === undefined) throw new SettingsError(problems, null)
  return new Secret(url)
}

function databaseFromFile(
  file: string,
  { environment }: SettingsInput,
  problems: SettingsProblem[],
): string | undefined {
  // A file that cannot be parsed matters only if it names a database.
  if (!/^["']?database["']?\s*:|[{,]\s*["']?database["']?\s*:/m.test(readText(file))) return undefined
  const settings = readSettingsFile(file).value
  const database = isObject(settings) ? settings.database : undefined
  return validUrl(interpolate(database, environment, problems), 'database', problems)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function validUrl(value: unknown, path: string, problems: SettingsProblem[]): string | undefined {
  if (value === undefined || problems.length > 0) return undefined
  const found: SettingsProblem[] = []
  if (checkSchema(DatabaseUrl, value, found)) return value
  problems.push(...found.map(({ message }) => ({ path, message })))
  return undefined
}
